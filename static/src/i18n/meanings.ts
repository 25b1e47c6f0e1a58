/** What signs and words of the page mean, one sentence each: in the help and on hover. */

const en = {
  'meaning.title': 'Signs',
  'meaning.clean': 'everything compared agrees within the tolerance',
  'meaning.parameter': 'its inputs agree, a parameter differs: a cause',
  'meaning.introduced': 'inputs and parameters agree, its output differs: the difference begins here',
  'meaning.amplified': 'its inputs differ, its output differs much more',
  'meaning.inherited': 'differs as its inputs do: look further up',
  'meaning.recovered': 'its inputs differ, its output agrees again',
  'meaning.incomparable': 'the two sides hold different things or nothing; the details say why',
  'meaning.unmatched': 'no counterpart on the other side was found',
  'meaning.warning': 'agrees in numbers, differs in something else (dtype, say)',
  'meaning.error': 'differs, and nothing tells whether it began here',
  'meaning.expected': 'marked as expected by a person',
  'meaning.how.exact': 'same path and class on both sides',
  'meaning.how.mapping': 'by a rule of the layer mapping',
  'meaning.how.normalised': 'same path without wrappers (module, _orig_mod, …)',
  'meaning.how.fuzzy': 'calls inside paired modules, aligned in call order',
  'meaning.how.structural': 'by place, shapes and statistics where names differ; the number says how sure that is, up to 1',
  'meaning.how.manual': 'matched by hand',
} as const;

export type MeaningKey = keyof typeof en;

const zh: Record<MeaningKey, string> = {
  'meaning.title': '标记',
  'meaning.clean': '所比较的内容均在容差内一致',
  'meaning.parameter': '输入一致，参数不同：是原因',
  'meaning.introduced': '输入与参数一致，输出不同：差异从这里开始',
  'meaning.amplified': '输入有差异，输出的差异大得多',
  'meaning.inherited': '随输入而不同：原因在更前面',
  'meaning.recovered': '输入有差异，输出又一致',
  'meaning.incomparable': '两侧含义不同或没有数据，详情中说明原因',
  'meaning.unmatched': '另一侧没有找到对应节点',
  'meaning.warning': '数值一致，其他方面不同（如数据类型）',
  'meaning.error': '不一致，但无法判断是否从这里开始',
  'meaning.expected': '已由人标为预期',
  'meaning.how.exact': '两侧路径与类相同',
  'meaning.how.mapping': '由层映射的规则匹配',
  'meaning.how.normalised': '去掉包装层（module、_orig_mod 等）后路径相同',
  'meaning.how.fuzzy': '已配对模块内的调用，按调用顺序对齐',
  'meaning.how.structural': '名称不同时按位置、形状与统计量匹配；数字为可信度，最大为 1',
  'meaning.how.manual': '手动匹配',
};

export const meanings: { en: Record<MeaningKey, string>; zh: Record<MeaningKey, string> } = { en, zh };
