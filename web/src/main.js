// 每一页都会载入的脚本：只登记元素。别的都按需载入（动态 import），不超过 25 KB（gzip 后）。
import { register } from "./shared/register.js";

// 互动图示：一行一个。
void register;
