/** The names by which Chinese readers know vendors; the catalog has the international ones. */
import type { Language } from '../language.ts'

const IN_CHINESE: Readonly<Record<string, string>> = {
  alibaba: '阿里云百炼（通义千问）',
  'alibaba-intl': '阿里云 Model Studio（国际站）',
  'alibaba-media': '阿里云 Model Studio：万相视频与千问图片',
  kling: '可灵 Kling（国际站）',
  'openrouter-videos': 'OpenRouter：视频',
  minimax: 'MiniMax（国际站）',
  modelark: 'BytePlus ModelArk（火山方舟国际站）',
  moonshot: '月之暗面（Kimi）',
  ollama: 'Ollama（自建服务器）',
  sglang: 'SGLang（自建服务器）',
  siliconflow: '硅基流动 SiliconFlow',
  vllm: 'vLLM（自建服务器）',
  volcengine: '火山方舟（豆包）',
  'volcengine-media': '火山方舟：图片与视频',
  'volcengine-speech': '火山引擎豆包语音',
  zhipu: '智谱 BigModel（GLM）',
}

export function vendorName(
  { id, name }: { readonly id: string; readonly name: string },
  language: Language,
): string {
  return (language === 'zh' ? IN_CHINESE[id] : undefined) ?? name
}
