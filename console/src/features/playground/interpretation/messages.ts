/** Texts of interpretation. */
import { defineMessages } from '../../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    mode: 'Output',
    s2t: 'Text',
    s2s: 'Speech',
    source: 'Source language',
    target: 'Target language',
    auto: 'Chinese and English, both ways',
    bySource: 'automatic',
    voice: 'Voice',
    voiceHint: 'For Chinese or English. If empty, the voice of the recording is cloned.',
    sourceText: 'Source text',
    translation: 'Translation',
    spoken: 'Spoken translation',
    arriving: '{bytes} so far; arrives in real time.',
    first: 'first audio after {duration}',
  },
  {
    mode: '输出',
    s2t: '文本',
    s2s: '语音',
    source: '源语言',
    target: '目标语言',
    auto: '中英互译',
    bySource: '自动匹配',
    voice: '音色',
    voiceHint: '支持中文或英文。留空则克隆录音中的声音。',
    sourceText: '原文',
    translation: '译文',
    spoken: '译文语音',
    arriving: '已收到 {bytes}，按说话速度返回。',
    first: '首段音频 {duration}',
  },
)
