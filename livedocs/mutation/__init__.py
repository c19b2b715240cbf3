"""变异：一次只改一处，看检查会不会发现。命令是 `python -m livedocs.mutate`，见 `livedocs/mutate.py`。"""
