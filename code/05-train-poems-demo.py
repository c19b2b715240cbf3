"""第 5 章 在真实的中文上训练：90 首五言唐诗，按字切分，几秒钟之内看到损失下降、过拟合与背诵。

按出现的顺序读，每个定义只用到它上面的定义：
  第 3、4、5 章的定义     归一化、RoPE、注意力、前馈网络、整个模型、损失与生成，原样并入
  POEMS                   语料：一行一首，来源与许可写在它下面
  Vocabulary              一个字一个编号；0 号是换行，放在每首诗的两端
  make_batch              一批长短不一的诗：右填充，填充处的标签是 -100
  train                   AdamW，边训练边记录两个损失：训练过的诗、没见过的诗
  verse_shares            生成的诗里，有多少句是五个字，有多少句原样出现在语料里
  example_1 到 example_3  语料与批；训练；生成

默认只打印判断：损失的末位、生成的诗随机器与版本变化，不适合逐字核对。
想看这台机器上的损失与样本，运行 python 05-train-poems-demo.py samples

运行：python 05-train-poems-demo.py（需要 torch，CPU 就够）
"""

# --8<-- [start:imports]
import math
import re
import sys
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

# --8<-- [end:imports]

# --8<-- [bundle:03-attention-demo.py:checks,rms_norm,precompute_freqs_cis,apply_rotary_pos_emb,repeat_kv,keep_mask,masked_softmax,simple_attention,show]
# isort: split
import importlib

_attention = importlib.import_module("03-attention-demo")
check_positive = _attention.check_positive
show = _attention.show
assert dataclass and F  # 并入的定义要用到它们
# --8<-- [end-bundle]


# --8<-- [bundle:04-mlp-moe-demo.py:check_hidden,ffn_width,swiglu]
ffn_width = importlib.import_module("04-mlp-moe-demo").ffn_width
# --8<-- [end-bundle]


# --8<-- [bundle:05-transformer-block-demo.py:config,transformer_block,next_token_loss,decoder_model,generate]
_block = importlib.import_module("05-transformer-block-demo")
ModelConfig = _block.ModelConfig
DecoderModel = _block.DecoderModel
generate = _block.generate
# --8<-- [end-bundle]


# --8<-- [start:corpus]
POEMS = """
天地英雄气，千秋尚凛然。势分三足鼎，业复五铢钱。得相能开国，生儿不象贤。凄凉蜀故伎，来舞魏宫前。
三日入厨下，洗手作羹汤。未谙姑食性，先遣小姑尝。
前年戍月支，城下没全师。蕃汉断消息，死生长别离。无人收废帐，归马识残旗。欲祭疑君在，天涯哭此时。
慈母手中线，游子身上衣。临行密密缝，意恐迟迟归。谁言寸草心，报得三春晖。
早雁忽为双，惊秋风水凉。夜长人自起，星月满空江。
嫁得瞿塘贾，朝朝误妾期。早知潮有信，嫁与弄潮儿。
故关衰草遍，离别正堪悲。路出寒云外，人归暮雪时。少孤为客早，多难识君迟。掩泣空相向，风尘何所期。
林暗草惊风，将军夜引弓。平明寻白羽，没在石棱中。
楚江微雨里，建业暮钟时。漠漠帆来重，冥冥鸟去迟。海门深不见，浦树远含滋。相送情无限，沾襟比散丝。
落帆逗淮镇，停舫临孤驿。浩浩风起波，冥冥日沉夕。人归山郭暗，雁下芦洲白。独夜忆秦关，听钟未眠客。
客从东方来，衣上灞陵雨。问客何为来，采山因买斧。冥冥花正开，飏飏燕新乳。昨别今已春，鬓丝生几缕。
凄凄去亲爱，泛泛入烟雾。归棹洛阳人，残钟广陵树。今朝此为别，何处还相遇。世事波上舟，沿洄安得住？
怀君属秋夜，散步咏凉天。空山松子落，幽人应未眠。
天秋月又满，城阙夜千重。还作江南会，翻疑梦里逢。风枝惊暗鹊，露草泣寒虫。羁旅长堪醉，相留畏晓钟。
沅湘流不尽，屈子怨何深。日暮秋风起，萧萧枫树林。
吹沙复喷石，曲折仍圆旋。野客漱流时，杯粘落花片。
湛湛碧涟漪，老松欹侧卧。悠扬绿萝影，下拂波纹破。
空山无鸟迹，何物如人意。委曲结绳文，离披草书字。
风吹城上树，草没城边路。城里月明时，精灵自来去。
鸣筝金粟柱，素手玉房前。欲得周郎顾，时时误拂弦。
移家虽带郭，野径入桑麻。近种篱边菊，秋来未著花。扣门无犬吠，欲去问西家。报道山中去，归时每日斜。
故人江海别，几度隔山川。乍见翻疑梦，相悲各问年。孤灯寒照雨，深竹暗浮烟。更有明朝恨，离杯惜共传。
静夜四无邻，荒居旧业贫。雨中黄叶树，灯下白头人。以我独沉久，愧君相见频。平生自有分，况是蔡家亲。
知有前期在，难分此夜中。无将故人酒，不及石尤风。
筑城须努力，城高遮得贼。但恐贼路多，有城遮不得。
寥落古行宫，宫花寂寞红。白头宫女在，闲坐说玄宗。
千山鸟飞绝，万径人踪灭。孤舟蓑笠翁，独钓寒江雪。
将牛何处去，耕彼故城东。相伴有田父，相欢惟牧童。
落日清江里，荆歌艳楚腰。采莲从小惯，十五即乘潮。
飞雪带春风，徘徊乱绕空。君看似花处，偏在洛城东。
强欲登高去，无人送酒来。遥怜故园菊，应傍战场开。
疲马卧长坂，夕阳下通津。山风吹空林，飒飒如有人。
野寺荒台晚，寒天古木悲。空阶有鸟迹，犹似造书时。
流落征南将，曾驱十万师。罢归无旧业，老去恋明时。独立三边静，轻生一剑知。茫茫江汉上，日暮欲何之。
古台摇落后，秋入望乡心。野寺来人少，云峰隔水深。夕阳依旧垒，寒磬满空林。惆怅南朝事，长江独至今。
一路经行处，莓苔见屐痕。白云依静渚，芳草闭闲门。过雨看松色，随山到水源。溪花与禅意，相对亦忘言。
苍苍竹林寺，杳杳种声晚。荷笠带斜阳，青山独归远。
日暮苍山远，天寒白屋贫。柴门闻犬吠，风雪夜归人。
细草微风岸，危樯独夜舟。星垂平野阔，月涌大江流。名岂文章著，官应老病休。飘飘何所似，天地一沙鸥。
他乡复行役，驻马别孤坟。近泪无干土，低空有断云。对棋陪谢傅，把剑觅徐君。唯见林花落，莺啼送客闻。
昔闻洞庭水，今上岳阳楼。吴楚东南坼，乾坤日夜浮。亲朋无一字，老病有孤舟。戎马关山北，凭轩涕泗流。
岱宗夫如何？齐鲁青未了。造化钟神秀，阴阳割昏晓。荡胸生层云，决眦入归鸟。会当凌绝顶，一览众山小。
花隐掖垣暮，啾啾栖鸟过。星临万户动，月傍九霄多。不寝听金钥，因风想玉珂。明朝有封事，数问夜如何？
功盖三分国，名成八阵图。江流石不转，遗恨失吞吴。
客路青山外，行舟绿水前。潮平两岸阔，风正一帆悬。海日生残夜，江春入旧年。乡书何处达？归雁洛阳边。
牛渚西江夜，青天无片云。登舟望秋月，空忆谢将军。余亦能高咏，斯人不可闻。明朝挂帆席，枫叶落纷纷。
长安一片月，万户捣衣声。秋风吹不尽，总是玉关情。何日平胡虏，良人罢远征。
小时不识月，呼作白玉盘。又疑瑶台镜，飞在青云端。仙人垂两足，桂树何团团。白兔捣药成，问言与谁餐。
白发三千丈，缘愁似个长。不知明镜里，何处得秋霜？
美人卷珠帘，深坐颦蛾眉。但见泪痕湿，不知心恨谁？
楚塞三湘接，荆门九派通。江流天地外，山色有无中。郡邑浮前浦，波澜动远空。襄阳好风日，留醉与山翁。
相送临高台，川原杳何极！日暮飞鸟还，行人去不息。
独坐幽篁里，弹琴复长啸。深林人不知，明月来相照。
红豆生南国，春来发几枝？愿君多采撷，此物最相思。
山中相送罢，日暮掩柴扉。春草明年绿，王孙归不归？
空山不见人，但闻人语响。返影入深林，复照青苔上。
人闲桂花落，夜静春山空。月出惊山鸟，时鸣春涧中。
终南阴岭秀，积雪浮云端。林表明霁色，城中增暮寒。
饮马渡秋水，水寒风似刀。平沙日未没，黯黯见临洮。昔日长城战，咸言意气高。黄尘足今古，白骨乱蓬蒿。
蝉鸣空桑林，八月萧关道。出塞复入塞，处处共芦草。从来幽并客，皆共尘沙老。莫学游侠儿，矜夸紫骝好。
木落雁南度，北风江上寒。我家襄水曲，遥隔楚云端。乡泪客中尽，孤帆天际看。迷津欲有问，平海夕漫漫。
故人具鸡黍，邀我至田家。绿树村边合，青山郭外斜。开轩面场圃，把酒话桑麻。待到重阳日，还来就菊花。
北阙休上书，南山归敝庐。不才明主弃，多病故人疏。白发催年老，青阳逼岁除。永怀愁不寐，松月夜窗虚。
移舟泊烟渚，日暮客愁新。野旷天低树，江清月近人。
故乡杳无际，江皋闻曙钟。始见沙上鸟，犹埋云外峰。
此地别燕丹，壮发上冲冠。昔时人已没，今日水犹寒。
绿蚁新醅酒，红泥小火炉。晚来天欲雪，能饮一杯无？
关山征戍远，闺阁别离难。苦战应憔悴，寒衣不要宽。
离离原上草，一岁一枯荣。野火烧不尽，春风吹又生。
春种一粒粟，秋收万颗子。四海无闲田，农夫犹饿死。
八年十二月，五日雪纷纷。竹柏皆冻死，况彼无衣民。回观村闾间，十室八九贫。北风利如剑，布絮不蔽身。唯烧蒿棘火，愁坐夜待晨。
耆老遮归路，壶浆满别筵。甘棠一无树，那得泪潸然。税重多贫户，农饥足旱田。唯留一湖水，与汝救凶年。
小娃撑小艇，偷采白莲回。不解藏踪迹，浮萍一道开。
锄禾日当午，汗滴禾下土。谁知盘中餐，粒粒皆辛苦。
大漠沙如雪，燕山月似钩。何当金络脑，快走踏清秋。
岭外音书绝，经冬复立春。近乡情更怯，不敢问来人。
向晚意不适，驱车登古原。夕阳无限好，只是近黄昏。
凄凉宝剑篇，羁泊欲穷年。黄叶仍风雨，青楼自管弦。新知遭薄俗，旧好隔良缘。心断新丰酒，销愁又几千。
本以高难饱，徒劳恨费声。五更疏欲断，一树碧无情。薄宦梗犹泛，故园芜已平。烦君最相警，我亦举家清。
荒戍落黄叶，浩然离故关。高风汉阳渡，初日郢门山。江上几人在，天涯孤棹还。何当重相见，尊酒慰离颜。
遥夜泛清瑟，西风生翠萝。残萤西玉露，早雁拂金河。高树晓还密，远山晴更多。淮南一叶下，自觉洞庭波。
红叶晚萧萧，长亭酒一瓢。残云归太华，疏雨过中条。树色随关迥，河声入海遥。帝乡明日到，犹自梦渔樵。
故国三千里，深宫二十年。一声何满子，双泪落君前。
旅馆无良伴，凝情自悄然。寒灯思旧事，断雁警愁眠。远梦归侵晓，家书到隔年。沧江好烟月，门系钓鱼船。
北斗七星高，哥舒夜带刀。至今窥牧马，不敢过临洮。
几行归塞尽，念尔独何之？暮雨相呼失，寒塘欲下迟。渚云低暗度，关月冷相随。未必逢矰缴，孤飞自可疑。
迢递三巴路，羁危万里身。乱山残雪夜，孤独异乡人。渐与骨肉远，转于童仆亲。那堪正漂泊，明日岁华新。
打起黄莺儿，莫教枝上啼。啼时惊妾梦，不得到辽西。
调角断清秋，征人倚戍楼。春风对青冢，白日落梁州。大漠无兵阻，穷边有客游。蕃情似此水，长愿向南流。
清瑟怨遥夜，绕弦风雨哀。孤灯闻楚角，残月下章台。芳草已云暮，故人殊未来。乡书不可寄，秋雁又南回。
"""
# 来源：npm 包 chinese-poetry 2.0.1 的 shuimotangshi.json（水墨唐诗），取其中每句恰好五个字的 90 首，只留正文；
# 问号、叹号之后多出的句号删去。诗文本身属于公有领域；该数据集的许可如下。
#
# The MIT License (MIT)
#
# Copyright (c) 2016 JackeyGao
#
# Permission is hereby granted, free of charge, to any person obtaining a copy
# of this software and associated documentation files (the "Software"), to deal
# in the Software without restriction, including without limitation the rights
# to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
# copies of the Software, and to permit persons to whom the Software is
# furnished to do so, subject to the following conditions:
#
# The above copyright notice and this permission notice shall be included in
# all copies or substantial portions of the Software.
#
# THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
# IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
# FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
# AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
# LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
# OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
# THE SOFTWARE.


def poems():
    """语料里的诗，一首一个字符串：返回 (训练用的 80 首, 留出的 10 首)。"""
    lines = POEMS.split()
    return [p for i, p in enumerate(lines) if i % 9], lines[::9]
# --8<-- [end:corpus]


# --8<-- [start:vocabulary]
class Vocabulary:
    """按字切分：一个字（或标点）一个编号。0 号是换行，表示一首诗的开头和结尾。

    Raises:
        ValueError: encode 遇到词表里没有的字；decode 遇到词表外的编号。
    """

    def __init__(self, texts):
        self.characters = ["\n", *sorted(set("".join(texts)))]
        self.ids = {character: i for i, character in enumerate(self.characters)}

    def __len__(self):
        return len(self.characters)

    def encode(self, text):
        """文字 -> 编号的列表。"""
        unknown = sorted(set(text) - self.ids.keys())
        if unknown:
            raise ValueError(f"词表里没有这 {len(unknown)} 个字：{''.join(unknown)}")
        return [self.ids[character] for character in text]

    def decode(self, ids):
        """编号的列表 -> 文字。"""
        wrong = [i for i in ids if not 0 <= i < len(self)]
        if wrong:
            raise ValueError(f"编号 {wrong[0]} 不在 0 到 {len(self) - 1} 之间")
        return "".join(self.characters[i] for i in ids)
# --8<-- [end:vocabulary]


# --8<-- [start:make_batch]
def make_batch(texts, vocabulary):
    """一批诗 -> (input_ids [B, T], labels [B, T])：前后各加一个换行，短的右填充 0，填充处的标签是 -100。

    labels 与 input_ids 对齐，没有移位；移位由模型做。因果掩码已经挡住了右边的填充，不必再传掩码。

    Raises:
        ValueError: 一首诗也没有。
    """
    if not texts:
        raise ValueError(f"这一批有 {len(texts)} 首诗：至少要有 1 首")
    rows = [vocabulary.encode(f"\n{text}\n") for text in texts]
    width = max(len(row) for row in rows)
    input_ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])  # [B, T]
    labels = torch.tensor([row + [-100] * (width - len(row)) for row in rows])  # [B, T]
    return input_ids, labels
# --8<-- [end:make_batch]


# --8<-- [start:train]
class Record(NamedTuple):
    """训练途中的一次记录。"""

    step: int
    seen: float  # 训练过的诗上的损失
    unseen: float  # 没见过的诗上的损失


def train(model, vocabulary, seen, unseen, steps=120, batch_size=16, peak_lr=6e-3, every=12, seed=0):
    """训练 model，返回每 every 步一次的 Record（含第 0 步与最后一步）。

    AdamW：Loshchilov 与 Hutter，Decoupled Weight Decay Regularization，2019。学习率先用 10 步升到 peak_lr；
    梯度的总长度超过 1 就按比例缩短，免得偶尔一大步毁掉前面学到的东西。
    """
    check_positive(steps=steps, batch_size=batch_size, every=every)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak_lr, betas=(0.9, 0.95), weight_decay=0.1)
    whole = {"seen": make_batch(seen, vocabulary), "unseen": make_batch(unseen, vocabulary)}

    def record(step):
        with torch.no_grad():
            return Record(step, **{name: model(x, labels=y).loss.item() for name, (x, y) in whole.items()})

    history = [record(0)]
    for step in range(1, steps + 1):
        chosen = torch.randperm(len(seen), generator=generator)[:batch_size].tolist()
        input_ids, labels = make_batch([seen[i] for i in chosen], vocabulary)
        for group in optimizer.param_groups:
            group["lr"] = peak_lr * min(1, step / 10)
        loss = model(input_ids, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % every == 0 or step == steps:
            history.append(record(step))
    return history
# --8<-- [end:train]


# --8<-- [start:write_poems]
def write_poems(model, vocabulary, count=20, temperature=0.5, seed=0):
    """从换行开始写 count 首，写到下一个换行为止；返回文字的列表。"""
    start = torch.zeros(count, 1, dtype=torch.long)  # [B, 1]，全是换行
    generator = torch.Generator().manual_seed(seed)
    ids = generate(model, start, 49, temperature=temperature, generator=generator)  # [B, 50]
    return [vocabulary.decode(row).split("\n")[1] for row in ids.tolist()]


def verse_shares(texts, corpus):
    """按标点断句，返回 (五个字的句子占几成, 原样出现在 corpus 里的句子占几成)。"""
    verses = [verse for text in texts for verse in re.split("[，。？！]", text) if verse]
    known = {verse for text in corpus for verse in re.split("[，。？！]", text)}
    if not verses:
        return 0.0, 0.0
    return sum(len(v) == 5 for v in verses) / len(verses), sum(v in known for v in verses) / len(verses)
# --8<-- [end:write_poems]


# --8<-- [start:run]
class Run(NamedTuple):
    """一次完整的训练：模型、记录、训练前与训练后写的诗。"""

    vocabulary: Vocabulary
    model: DecoderModel
    history: list
    before: list
    after: list


@cache
def run(seed=0):
    """种子固定的一次训练；同一个进程里只算一次。"""
    seen, unseen = poems()
    vocabulary = Vocabulary(seen + unseen)
    torch.manual_seed(seed)
    config = ModelConfig(
        len(vocabulary), hidden_size=64, n_layers=2, n_heads=4, n_kv_heads=2, head_dim=16, intermediate_size=ffn_width(64)
    )
    model = DecoderModel(config)
    before = write_poems(model, vocabulary)
    history = train(model, vocabulary, seen, unseen, seed=seed)
    return Run(vocabulary, model, history, before, write_poems(model, vocabulary))
# --8<-- [end:run]


# --8<-- [start:example_1]
def example_1_corpus():
    """语料、词表和一批诗：填充处不算损失。"""
    print("例 1  语料与一批诗")
    seen, unseen = poems()
    vocabulary = Vocabulary(seen + unseen)
    characters = sum(map(len, seen + unseen))
    assert len(seen) == 80 and len(unseen) == 10 and not set(seen) & set(unseen)
    print(f"  {len(seen)} 首训练，{len(unseen)} 首留出；共 {characters} 个字与标点，词表 {len(vocabulary)} 个编号")
    input_ids, labels = make_batch(seen[:3], vocabulary)  # [3, T]
    show("input_ids", input_ids, "batch, seq")
    counted = (labels != -100).sum(dim=1).tolist()
    assert counted == [len(text) + 2 for text in seen[:3]]
    assert torch.equal(input_ids[labels != -100], labels[labels != -100])
    print(f"  前 3 首各有 {counted} 个真实词元，其余是填充，标签写 -100")
    assert vocabulary.decode(vocabulary.encode(seen[0])) == seen[0]
    print("  编号再还原，一字不差：成立")
# --8<-- [end:example_1]


# --8<-- [start:example_2]
def example_2_training():
    """训练过的诗损失一路下降；没见过的诗先降后升：先学到共同的东西，然后开始背。"""
    print("例 2  训练 120 步")
    result = run()
    first, *_, last = result.history
    best = min(result.history, key=lambda record: record.unseen)
    uniform = math.log(len(result.vocabulary))
    assert abs(first.seen - uniform) < 0.2 and abs(first.unseen - uniform) < 0.2
    print(f"  训练前：两个损失都与 ln {len(result.vocabulary)} = {uniform:.2f} 相差不到 0.2")
    assert last.seen < 0.6
    print("  训练后：训练过的诗，损失 < 0.6")
    assert 0 < best.step < last.step and best.unseen < 6.2
    print("  没见过的诗：中途降到 6.2 以下")
    assert last.unseen > best.unseen + 0.5
    print("  训练后又回升了 0.5 以上：过拟合")
# --8<-- [end:example_2]


# --8<-- [start:example_3]
def example_3_writing():
    """写 20 首：训练前没有格式；训练后大多五个字一句，可是多半是从语料里背出来的。"""
    print("例 3  写诗，训练前与训练后各 20 首")
    result = run()
    seen, _ = poems()
    five_before, known_before = verse_shares(result.before, seen)
    five_after, known_after = verse_shares(result.after, seen)
    assert five_before < 0.2 and known_before == 0
    print("  训练前：五个字的句子不到两成，没有一句与语料相同")
    assert five_after > 0.7 and known_after > 0.5
    print("  训练后：五个字的句子超过七成；一半以上的句子原样出现在训练用的诗里")
# --8<-- [end:example_3]


# --8<-- [start:main]
def main(arguments=()):
    """按顺序运行三个例子；参数里有 samples 就再打印这台机器上的损失与样本。"""
    torch.set_num_threads(1)  # 张量都很小，多个线程只会互相等待
    example_1_corpus()
    example_2_training()
    example_3_writing()
    if "samples" in arguments:
        result = run()
        for record in result.history:
            print(f"第 {record.step} 步：训练过的 {record.seen:.2f}，没见过的 {record.unseen:.2f}")
        for name, texts in (("训练前", result.before), ("训练后", result.after)):
            for text in texts[:5]:
                print(f"{name}：{text}")


if __name__ == "__main__":
    main(sys.argv[1:])
# --8<-- [end:main]
