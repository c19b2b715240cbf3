"""键值缓存的代价图：线上的点、写出的数都由课程的脚本算出。"""

import re
import xml.etree.ElementTree as ET

from figures import kv_cache_cost, store
from figures.lesson import load

SVG = "{http://www.w3.org/2000/svg}"


def stored():
    return ET.fromstring((store.FOLDER / "kv-cache-cost.svg").read_bytes())


def lines(root, colour):
    """返回某种颜色的粗线，每条是 (x, y) 的列表。"""
    found = []
    for node in root.iter(f"{SVG}path"):
        if {colour, "f-thick"} <= set(node.get("class", "").split()):
            found.append([tuple(map(float, point.split())) for point in re.split("[ML]", node.get("d"))[1:]])
    return found


def slopes(points):
    return [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(points, points[1:])]


def test_numbers_in_the_figure_are_counted():
    root = stored()
    said = " ".join("".join(node.itertext()) for node in root.iter(f"{SVG}text")) + root.find(f"{SVG}desc").text
    work, step_cost = load("kv_cache_cost").work, load("kv_cache_cost").step_cost
    wanted = [work([1] * 128, True).scores, work([1] * 128, False).scores, step_cost(1)[0], kv_cache_cost.crossing()]
    assert wanted == [8256, 707264, 1769472, 1152]
    for number in wanted:
        assert str(number) in said


def test_lines_have_the_right_shape():
    """上图：没有缓存的线更陡，斜率约是有缓存的 1.5 倍（三次对二次）；下图：水平线与过原点的直线在交点处同高。"""
    root = stored()
    (without,) = lines(root, "f-x")
    with_cache, attention = lines(root, "f-w")
    (projection,) = lines(root, "f-k")
    assert without[0] == with_cache[0], "T = 1 时没有区别"
    assert 1.4 < slopes(without)[-1] / slopes(with_cache)[-1] < 1.6
    assert slopes(projection) == [0] and len(attention) == 2
    share = kv_cache_cost.crossing() / kv_cache_cost.STEP_END
    at_crossing = attention[0][1] + share * (attention[1][1] - attention[0][1])
    assert abs(at_crossing - projection[0][1]) < 0.1
