/** Texts of the gallery. */
import { defineMessages } from '../../lib/i18n.tsx'
import { words } from '../../lib/words/shared-words.ts'

export const messages = defineMessages(
  {
    ...words.en,
    title: 'Gallery',
    description: 'Images from tasks, kept in this gateway’s own storage.',
    noPrompt: 'No prompt',
    size: 'Size',
    deleteTitle: 'Delete this image?',
    deleteText: 'The file is permanently removed. The record of its charge remains.',
    copying: 'Copying',
    open: 'Open “{prompt}”',
    before: 'Previous image',
    after: 'Next image',
    place: '{place} of {count}',
    toPlayground: 'Make one in the playground',
    loadMore: 'Load more',
    emptyTitle: 'No images yet',
    emptyText: 'Create one with POST /v1/images/async: it is copied here before its link expires.',
  },
  {
    ...words.zh,
    title: '作品库',
    description: '任务生成的图片，保存在本网关的存储中。',
    noPrompt: '无提示词',
    size: '尺寸',
    deleteTitle: '删除这张图片？',
    deleteText: '文件将被永久删除，费用记录保留。',
    copying: '复制中',
    open: '打开“{prompt}”',
    before: '上一张',
    after: '下一张',
    place: '第 {place} 张，共 {count} 张',
    toPlayground: '在体验中心生成',
    loadMore: '加载更多',
    emptyTitle: '还没有图片',
    emptyText: '使用 POST /v1/images/async 生成：链接失效前会复制到这里。',
  },
)
