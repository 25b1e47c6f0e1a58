/** Texts of the panel of expected and ignored differences. */

const en = {
  'triage.title': 'Expected and ignored',
  'triage.how': 'Mark what is known to differ, so that it does not hide what is not. Marks are kept beside the graph; the next comparison can take them over.',
  'triage.howHere': 'Mark what is known to differ, so that it does not hide what is not. In an exported page marks stay in this browser; download them to pass them on.',
  'triage.hideNone': 'Hide marked nodes from lists and counts',
  'triage.hide': 'Hide {count} marked {count|node|nodes} from lists and counts',
  'triage.select': 'Select a box to mark it.',
  'triage.what': 'Mark',
  'triage.choice.call': 'this call',
  'triage.choice.calls': 'every call of it',
  'triage.choice.layers': 'the same in every layer',
  'triage.choice.inside': 'it and everything inside',
  'triage.choice.class': 'every module of this class',
  'triage.verdict.expected': 'expected to differ',
  'triage.verdict.ignored': 'of no interest',
  'triage.explain.expected': 'A known difference: another implementation, dropout, a fused kernel.',
  'triage.explain.ignored': 'Nothing that anybody wants to hear about.',
  'triage.note': 'Why',
  'triage.noteHint': 'dropout is on in one of the runs',
  'triage.mark': 'Mark',
  'triage.list': 'Marks',
  'triage.empty': 'Nothing is marked.',
  'triage.nodes': '{count} {count|node|nodes}',
  'triage.button': 'Expected…',
} as const;

export type TriageKey = keyof typeof en;

const zh: Record<TriageKey, string> = {
  'triage.title': '预期与忽略',
  'triage.how': '标记已知的差异，以免掩盖未知的差异。标记保存在图旁，下次比较可从中导入。',
  'triage.howHere': '标记已知的差异，以免掩盖未知的差异。在导出的页面中，标记只保存在本浏览器中，可下载后转交。',
  'triage.hideNone': '在列表和计数中隐藏已标记节点',
  'triage.hide': '在列表和计数中隐藏 {count} 个已标记节点',
  'triage.select': '选择一个节点以标记。',
  'triage.what': '标记',
  'triage.choice.call': '此次调用',
  'triage.choice.calls': '它的每次调用',
  'triage.choice.layers': '各层的同一位置',
  'triage.choice.inside': '它及内部全部节点',
  'triage.choice.class': '此类的所有模块',
  'triage.verdict.expected': '预期不同',
  'triage.verdict.ignored': '无需关注',
  'triage.explain.expected': '已知差异：实现不同、dropout、融合算子等。',
  'triage.explain.ignored': '不需要关注的内容。',
  'triage.note': '原因',
  'triage.noteHint': '其中一侧开启了 dropout',
  'triage.mark': '标记',
  'triage.list': '标记列表',
  'triage.empty': '还没有标记。',
  'triage.nodes': '{count} 个节点',
  'triage.button': '预期…',
};

export const triageTexts: { en: Record<TriageKey, string>; zh: Record<TriageKey, string> } = { en, zh };
