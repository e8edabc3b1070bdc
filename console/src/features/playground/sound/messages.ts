/** Texts of giving a recording. */
import { defineMessages } from '../../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    recording: 'Recording',
    choose: 'Choose a file',
    record: 'Record',
    stopRecording: 'Stop at {seconds} s',
    converted: 'Converted in the browser to 16 kHz mono 16-bit wav.',
    converting: 'Converting …',
    length: '{name} · {seconds} s · {size}',
    unreadable: 'The browser cannot decode this file as audio. Choose another one.',
    blocked: 'Microphone access is blocked. Allow it for this site, then try again.',
    missing: 'No microphone is available. Recording needs a microphone and an https address.',
    own: 'Your recording',
  },
  {
    recording: '录音',
    choose: '选择文件',
    record: '录制',
    stopRecording: '停止（{seconds} 秒）',
    converted: '已在浏览器中转换为 16 kHz 单声道 16 位 wav。',
    converting: '正在转换…',
    length: '{name} · {seconds} 秒 · {size}',
    unreadable: '浏览器无法将此文件解码为音频，请另选文件。',
    blocked: '麦克风访问被阻止。请允许此站点使用麦克风，然后重试。',
    missing: '没有可用的麦克风。录音需要麦克风和 https 地址。',
    own: '您的录音',
  },
)
