/**
 * 每种异常一句有用的话。
 * @param {{ type: string, bases: string[], last: string }} error
 */
export function help(error) {
  if (error.type === "ModuleNotFoundError") {
    return "网页里只有 Python 标准库；要用 PyTorch 等别的包，请在自己的电脑上运行。";
  }
  for (const base of error.bases) {
    if (base in SENTENCES) return SENTENCES[base];
  }
  return "先看最后一行的类型和原因，再看标出的那一行用到的值。";
}

/** @type {Record<string, string>} */
const SENTENCES = {
  AssertionError: "这条断言不再成立：写下它要求的是什么，再打印两边的值，看差在哪里。",
  IndentationError: "缩进对不上：同一层的代码要对齐，冒号后面的一行要多缩进四个空格。",
  SyntaxError: "Python 读不懂这一行：检查括号、引号和冒号是否成对、是否用了全角标点。",
  UnboundLocalError: "函数里给这个名字赋了值，所以它是局部的；在赋值之前就用了它。",
  NameError: "这个名字还没有定义：检查拼写，或者看看定义它的那一段是不是被改掉了。",
  ImportError: "这个模块里没有要引入的名字：检查拼写。",
  ZeroDivisionError: "除数是 0：想一想这个分母在什么时候会是 0。",
  OverflowError: "数太大，双精度浮点数装不下：softmax 里先减去这一行的最大值。",
  RecursionError: "函数一层层调用自己，没有停下来：检查停止的条件。",
  MemoryError: "用掉的内存到了上限：把列表或循环改小。",
  IndexError: "下标超出了列表的长度：打印 len(…)，记住下标从 0 数起。",
  KeyError: "字典里没有这个键：打印字典的键看一看。",
  AttributeError: "这个值没有这个属性或方法：用 type(…) 看看它究竟是什么。",
  TypeError: "值的类型不对，或者参数的个数不对：把用到的值逐个打印出来。",
  UnicodeError: "文字不能用这种编码表示：换成 UTF-8，或者换掉那个字符。",
  ValueError: "值不合要求：读冒号后面的话，它说了是哪个值。",
  EOFError: "网页里不能用 input()：把要输入的值直接写进代码。",
  SystemExit: "代码要求退出：去掉 exit()，后面的才会运行。",
  KeyboardInterrupt: "运行被打断了。",
};
