/** Texts of transcription. */
import { defineMessages } from '../../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    language: 'Language',
    languageHint: 'A code such as en; detected if empty',
    format: 'Response format',
    prompt: 'Expected words and style',
    json: 'Text',
    verbose_json: 'Text with timestamps',
    srt: 'Subtitles, srt',
    vtt: 'Subtitles, vtt',
    text: 'Transcript',
    nothing: 'No speech was detected.',
  },
  {
    language: '语言',
    languageHint: '语言代码，如 zh；留空则自动识别',
    format: '返回格式',
    prompt: '可能出现的词与文风',
    json: '文本',
    verbose_json: '带时间的文本',
    srt: '字幕 srt',
    vtt: '字幕 vtt',
    text: '识别文本',
    nothing: '未检测到语音。',
  },
)
