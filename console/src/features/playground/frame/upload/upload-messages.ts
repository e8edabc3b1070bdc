/** Texts of an upload. */
import { defineMessages } from '../../../../lib/i18n.tsx'

export const uploadMessages = defineMessages(
  {
    cancel: 'Cancel',
    progress: 'Upload',
    share: '{share} uploaded',
    done: '{name}, {size}, is uploaded',
  },
  {
    cancel: '取消',
    progress: '上传',
    share: '已上传 {share}',
    done: '{name}（{size}）已上传',
  },
)
