"""3.3 键值缓存的账：数一数存了多少、算了多少，不计时。

按出现的顺序读：
  cache_bytes               缓存占多少字节
  schedule、work            分块送入时，每一步投影几个词元、算几个分数
  step_cost                 有缓存时解码一步，一层的乘加次数
  project、read、read_all   真的算一遍：有缓存与没有缓存，边算边数
  example_1 到 example_5    每个例子声明一件事，用断言证明它，再打印数目

记号：T = 词元数，past = 缓存里已有的词元数，C = hidden_size，H = n_heads（查询头数），
Hkv = n_kv_heads，D = head_dim。缺省的尺寸是 MiniMind 现行版本的。
分数按整块矩阵数：q 个查询对 k 个键是 q * k 个，被掩码屏蔽的也算在内，因为矩阵乘法照样要算。

运行：python kv_cache_cost.py（Python 3.10 及以上，只用标准库）
"""

# --8<-- [start:imports]
import math
from typing import NamedTuple

# --8<-- [end:imports]

# --8<-- [start:checks]
def check_positive(**sizes):
    """要求每个具名参数都是正整数，否则抛出 ValueError。"""
    for name, size in sizes.items():
        if type(size) is not int or size < 1:
            raise ValueError(f"{name} 应是正整数，得到 {size!r}")
# --8<-- [end:checks]


# --8<-- [start:cache_bytes]
def cache_bytes(length, n_layers=8, n_kv_heads=4, head_dim=96, bytes_each=2, batch=1):
    """整个模型的键值缓存占多少字节：K 与 V 各存 batch * length * n_kv_heads * head_dim 个数，每层一份。

    bytes_each 是每个数的字节：bf16、fp16 是 2，fp32 是 4。查询头的个数不出现在式子里。

    Raises:
        ValueError: 有参数不是正整数。
    """
    check_positive(
        length=length, n_layers=n_layers, n_kv_heads=n_kv_heads, head_dim=head_dim, bytes_each=bytes_each, batch=batch
    )
    return 2 * n_layers * batch * length * n_kv_heads * head_dim * bytes_each
# --8<-- [end:cache_bytes]


# --8<-- [start:work]
class Work(NamedTuple):
    """每层、每头的工作量：投影过的词元个数，与算过的分数个数。"""

    projected: int
    scores: int


def schedule(chunks):
    """把各块的长度变成每一步的 (past, new)：这一步之前有几个词元，这一步新来几个。

    Raises:
        ValueError: 一块也没有；某一块的长度不是正整数。
    """
    chunks = list(chunks)
    if not chunks:
        raise ValueError("一块也没有：至少要送 1 块词元")
    steps, past = [], 0
    for i, new in enumerate(chunks):
        check_positive(**{f"chunks[{i}]": new})
        steps.append((past, new))
        past += new
    return steps


def work(chunks, cached):
    """按 chunks 分块送完一段词元的总工作量 Work。

    有缓存：每步只投影新来的，new 个查询对 past + new 个键。
    没有缓存：每步把 past + new 个词元从头算，查询和键都是 past + new 个。
    """
    projected = scores = 0
    for past, new in schedule(chunks):
        queries = new if cached else past + new
        projected += queries
        scores += queries * (past + new)
    return Work(projected, scores)
# --8<-- [end:work]


# --8<-- [start:step_cost]
def step_cost(t, hidden_size=768, n_heads=8, n_kv_heads=4, head_dim=96):
    """有缓存时，一层解码 1 个词元的乘加次数，返回 (投影, 注意力)；t 是缓存里的键数，含它自己。

    投影：Q 与输出各 C * H * D 次，K 与 V 各 C * Hkv * D 次，与 t 无关。
    注意力：H 个查询头各对 t 个键，算分数要 D 次，加权求和又要 D 次。

    Raises:
        ValueError: 有参数不是正整数；n_heads 不能被 n_kv_heads 整除。
    """
    check_positive(t=t, hidden_size=hidden_size, n_heads=n_heads, n_kv_heads=n_kv_heads, head_dim=head_dim)
    if n_heads % n_kv_heads:
        raise ValueError(f"n_heads = {n_heads} 不能被 n_kv_heads = {n_kv_heads} 整除")
    projection = 2 * hidden_size * n_heads * head_dim + 2 * hidden_size * n_kv_heads * head_dim
    attention = 2 * t * n_heads * head_dim
    return projection, attention
# --8<-- [end:step_cost]


# --8<-- [start:read_all]
def project(token):
    """词元 [2] -> (查询, 键, 值)，各 [2]：三个写死的 2 x 2 投影。"""
    a, b = token
    return [a + b, a - b], [a - 2 * b, b], [3 * a, a + 2 * b]


def read(query, keys, values):
    """一个查询读一次：分数除以 sqrt(2)，softmax，再对值加权求和，返回 [2]。"""
    scores = [(query[0] * k[0] + query[1] * k[1]) / math.sqrt(2) for k in keys]  # [键数]
    peak = max(scores)
    exps = [math.exp(s - peak) for s in scores]  # [键数]
    total = sum(exps)
    return [sum(e * v[d] for e, v in zip(exps, values)) / total for d in range(2)]


def read_all(tokens, chunks, cached):
    """真的按 chunks 分块算一遍单头因果注意力，返回 (每个词元的输出, Work)。

    没有缓存时，每一步都丢掉旧的键和值，把前面的词元重新投影、重新读一遍，只留下新词元的输出。

    Raises:
        ValueError: chunks 不合格，或各块加起来不等于词元的个数。
    """
    steps = schedule(chunks)
    if sum(new for _, new in steps) != len(tokens):
        raise ValueError(f"各块加起来是 {sum(new for _, new in steps)} 个词元，而 tokens 有 {len(tokens)} 个")
    keys, values, outputs = [], [], []
    projected = scores = 0
    for past, new in steps:
        first = past if cached else 0  # 这一步送进来的第一个词元的位置
        del keys[first:], values[first:]  # 有缓存时什么也不删
        queries = []
        for token in tokens[first : past + new]:
            query, key, value = project(token)
            queries.append(query)
            keys.append(key)
            values.append(value)
            projected += 1
        rows = []
        for i, query in enumerate(queries):
            scores += len(keys)
            visible = first + i + 1  # 因果：位置 first + i 只看得见自己和之前
            rows.append(read(query, keys[:visible], values[:visible]))
        outputs += rows[-new:]
    return outputs, Work(projected, scores)
# --8<-- [end:read_all]


# --8<-- [start:example_1]
def example_1_bytes():
    """缓存与 KV 头数成正比，与查询头数无关。"""
    print("例 1  键值缓存的字节数：8 层，T = 2048，head_dim = 96，bf16")
    for n_kv_heads, expected in ((8, 48), (4, 24), (2, 12), (1, 6)):
        per_token = cache_bytes(1, n_kv_heads=n_kv_heads)
        total = cache_bytes(2048, n_kv_heads=n_kv_heads)
        assert total == 2048 * per_token == expected * 2**20
        print(f"  {n_kv_heads} 个 KV 头：每个词元 {per_token} 字节，一段 {total // 2**20} MiB")
# --8<-- [end:example_1]


# --8<-- [start:example_2]
def example_2_scores():
    """逐个送 T 个词元：有缓存是 1 + 2 + … + T 个分数，没有缓存是 1 + 4 + … + T * T 个。"""
    print("例 2  逐个送 128 个词元，每层每头的工作量")
    T = 128
    with_cache, without = work([1] * T, cached=True), work([1] * T, cached=False)
    assert with_cache == (T, T * (T + 1) // 2)
    assert without == (T * (T + 1) // 2, T * (T + 1) * (2 * T + 1) // 6)
    print(f"  有缓存：投影 {with_cache.projected} 个词元，算 {with_cache.scores} 个分数")
    print(f"  没有缓存：投影 {without.projected} 个词元，算 {without.scores} 个分数")
    print(f"  分数相差 {without.scores / with_cache.scores:.1f} 倍")
    legal = sum(t * (t + 1) // 2 for t in range(1, T + 1))
    print(f"  没有缓存而只算合法的分数，也要 {legal} 个")
# --8<-- [end:example_2]


# --8<-- [start:example_3]
def example_3_really_run():
    """真的算一遍：怎样分块，输出都逐位相同；数出来的与公式一致。"""
    print("例 3  真的算 24 个词元，边算边数")
    tokens = [[math.sin(i), math.cos(2 * i)] for i in range(24)]  # [T=24][2]
    whole, _ = read_all(tokens, [24], cached=True)
    for name, chunks in (("逐个 1 x 24", [1] * 24), ("预填充 16，再逐个", [16] + [1] * 8), ("分块 10 + 14", [10, 14])):
        for cached in (True, False):
            outputs, counted = read_all(tokens, chunks, cached)
            assert outputs == whole  # 同样的乘加、同样的次序，所以一位不差
            assert counted == work(chunks, cached)
        saved = work(chunks, cached=False).scores - work(chunks, cached=True).scores
        print(f"  {name}：输出逐位相同，缓存省下 {saved} 个分数")
# --8<-- [end:example_3]


# --8<-- [start:example_4]
def example_4_step():
    """有缓存时，一步的投影与 t 无关，注意力与 t 成正比；两者在 t = C * (1 + Hkv / H) 处相等。"""
    print("例 4  有缓存时解码一步，一层的乘加次数")
    for t in (1, 128, 1152, 2048):
        projection, attention = step_cost(t)
        assert projection == step_cost(1)[0] and attention == t * step_cost(1)[1]
        print(f"  t = {t}：投影 {projection}，注意力 {attention}")
    assert step_cost(1152)[0] == step_cost(1152)[1] and 1152 == 768 + 768 * 4 // 8
# --8<-- [end:example_4]


# --8<-- [start:example_5]
def example_5_prompt():
    """缓存不减少预填充的工作；省下的全在解码阶段。"""
    print("例 5  提示词 512 个词元，再解码 128 步，每层每头的分数")
    prefill, decode = [512], [1] * 128
    first = [work(prefill, cached).scores for cached in (True, False)]
    rest = [work(prefill + decode, cached).scores - first[i] for i, cached in enumerate((True, False))]
    assert first[0] == first[1] == 512 * 512
    print(f"  预填充：有缓存 {first[0]} 个，没有缓存 {first[1]} 个")
    print(f"  解码：有缓存 {rest[0]} 个，没有缓存 {rest[1]} 个，相差 {rest[1] / rest[0]:.0f} 倍")
# --8<-- [end:example_5]


# --8<-- [start:main]
def main():
    """按顺序运行五个例子。"""
    example_1_bytes()
    example_2_scores()
    example_3_really_run()
    example_4_step()
    example_5_prompt()


if __name__ == "__main__":
    main()
# --8<-- [end:main]
