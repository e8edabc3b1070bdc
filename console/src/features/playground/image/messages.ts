/** Texts of images. */
import { defineMessages } from '../../../lib/i18n.tsx'
import { words } from '../../../lib/words/shared-words.ts'

export const messages = defineMessages(
  {
    ...words.en,
    mode: 'Mode',
    now: 'Synchronous',
    asTask: 'As a task',
    count: 'Images',
    size: 'Size',
    sizeHint: 'For example 1024x1024 or 2K',
    quality: 'Quality',
    format: 'Response format',
    link: 'links',
    bytes: 'image data',
    alt: 'Image: {prompt}',
    hostedByVendor: 'This image is hosted by the vendor for a limited time.',
    open: 'Open the link',
    revised: 'Prompt as revised by the model',
  },
  {
    ...words.zh,
    mode: '生成方式',
    now: '同步',
    asTask: '异步任务',
    count: '图片数',
    size: '尺寸',
    sizeHint: '例如 1024x1024 或 2K',
    quality: '质量',
    format: '返回格式',
    link: '链接',
    bytes: '图片数据',
    alt: '图片：{prompt}',
    hostedByVendor: '图片保存在供应商处，限时有效。',
    open: '打开链接',
    revised: '模型改写后的提示词',
  },
)
