/** Words for the types of models. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    chat: 'chat',
    speech: 'speech',
    search: 'search',
    minutes: 'minutes',
    video: 'video',
    image: 'images',
    ast: 'interpretation',
    embedding: 'embeddings',
    transcription: 'transcription',
    moderation: 'moderation',
    erase: 'subtitle removal',
  },
  {
    chat: '对话',
    speech: '语音合成',
    search: '搜索',
    minutes: '纪要',
    video: '视频',
    image: '图片',
    ast: '同声传译',
    embedding: '向量',
    transcription: '语音识别',
    moderation: '内容审核',
    erase: '去字幕',
  },
)
