/** Texts of the panel that shares a view. */

const en = {
  'share.title': 'Share',
  'share.address': 'Address of this view',
  'share.addressHow': 'Holds run, step, rank, selection, colouring and policy. Whoever reaches this server sees the same.',
  'share.addressHere': 'Holds run, step, rank, selection and colouring, and opens this file at the same place where it lies. Whoever gets the file can put everything from # on behind its address.',
  'share.inside': 'What is in this file',
  'share.insideGraphs': 'step {steps}, rank {ranks}',
  'share.insideAll': 'Both graphs with all statistics, verdicts and stack frames; nothing is loaded from anywhere. Matches and marks that you make stay in this browser and can be downloaded.',
  'share.outside': 'Matching again, other mappings and maps of differences need the run in TensorBoard or graph-view serve.',
  'share.copy': 'Copy',
  'share.page': 'One file with everything inside',
  'share.pageHow': 'An HTML file that opens from disk or a mail, without a server. It shows the comparison with the matches, the mapping and the marks that are kept beside it.',
  'share.savePage': 'Save as HTML',
  'share.working': 'Writing…',
  'share.picture': 'Picture of the graphs',
} as const;

export type ShareKey = keyof typeof en;

const zh: Record<ShareKey, string> = {
  'share.title': '分享',
  'share.address': '当前视图的地址',
  'share.addressHow': '包含结果、step、rank、所选节点、着色和判定策略。能访问此服务器的人会看到同样的内容。',
  'share.addressHere': '包含结果、step、rank、所选节点和着色，可再次打开本文件的同一位置。收到本文件的人可把 # 及其后的内容接在自己的文件地址之后。',
  'share.inside': '本文件的内容',
  'share.insideGraphs': 'step {steps}，rank {ranks}',
  'share.insideAll': '两侧的图以及全部统计量、判定和调用栈；不从任何地方加载内容。您的匹配和标记只保存在本浏览器中，可以下载。',
  'share.outside': '重新匹配、更换映射和查看差异图需在 TensorBoard 或 graph-view serve 中打开该结果。',
  'share.copy': '复制',
  'share.page': '包含全部内容的单个文件',
  'share.pageHow': '无需服务器、可从磁盘或邮件打开的 HTML 文件，内容为当前的对比结果，含保存在图旁的匹配、映射和标记。',
  'share.savePage': '保存为 HTML',
  'share.working': '正在生成…',
  'share.picture': '图的图片',
};

export const shareTexts: { en: Record<ShareKey, string>; zh: Record<ShareKey, string> } = { en, zh };
