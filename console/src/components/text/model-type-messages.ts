/** Names of the types of models. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    chat: 'Chat',
    embedding: 'Embedding',
    moderation: 'Moderation',
    speech: 'Speech',
    search: 'Search',
    minutes: 'Minutes',
    video: 'Video',
    image: 'Image',
    erase: 'Subtitle erasure',
    ast: 'Interpretation',
    transcription: 'Transcription',
  },
  {
    chat: '对话',
    embedding: '向量',
    moderation: '内容审核',
    speech: '语音合成',
    search: '搜索',
    minutes: '纪要',
    video: '视频',
    image: '图片',
    erase: '字幕擦除',
    ast: '同声传译',
    transcription: '语音识别',
  },
)
