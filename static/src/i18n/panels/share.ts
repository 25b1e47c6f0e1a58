/** Texts of the panel that shares a view. */

const en = {
  'share.title': 'Share',
  'share.address': 'Address of this view',
  'share.addressHow': 'Holds run, step, rank, selection and colouring. Whoever reaches this server sees the same.',
  'share.copy': 'Copy',
  'share.page': 'One file with everything inside',
  'share.pageHow': 'An HTML file that opens from disk or a mail, without a server. It shows the comparison as it was converted.',
  'share.savePage': 'Save as HTML',
  'share.working': 'Writing…',
  'share.picture': 'Picture of the graphs',
} as const;

export type ShareKey = keyof typeof en;

const zh: Record<ShareKey, string> = {
  'share.title': '分享',
  'share.address': '当前视图的地址',
  'share.addressHow': '包含结果、步、卡、所选节点和着色。能访问此服务器的人会看到同样的内容。',
  'share.copy': '复制',
  'share.page': '包含全部内容的单个文件',
  'share.pageHow': '无需服务器、可从磁盘或邮件打开的 HTML 文件，内容为转换时的对比结果。',
  'share.savePage': '保存为 HTML',
  'share.working': '正在生成…',
  'share.picture': '图的图片',
};

export const shareTexts: { en: Record<ShareKey, string>; zh: Record<ShareKey, string> } = { en, zh };
