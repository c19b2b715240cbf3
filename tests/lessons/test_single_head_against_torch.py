"""code/single_head_attention.py 与 F.scaled_dot_product_attention 在随机尺寸上相同。"""

import torch_checks as check
from hypothesis import given, settings
from hypothesis import strategies as st
from lesson_files import load

M = load("single_head_attention.py")

size = st.integers(1, 6)
seed = st.integers(0, 2**32 - 1)
many = settings(max_examples=40, deadline=None)


@many
@given(Tq=size, extra=st.integers(0, 4), D=size, Dv=size, seed=seed)
def test_causal_equals_sdpa(Tq, extra, D, Dv, seed):
    check.single_equals_sdpa(M, Tq, Tq + extra, D, Dv, causal=True, seed=seed)


@many
@given(Tq=size, Tk=size, D=size, Dv=size, seed=seed)
def test_unmasked_equals_sdpa(Tq, Tk, D, Dv, seed):
    check.single_equals_sdpa(M, Tq, Tk, D, Dv, causal=False, seed=seed)
