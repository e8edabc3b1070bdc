/** Names for the kinds of tasks and of their webhooks. */
import { defineMessages, useLanguage } from '../../lib/i18n.tsx'

const messages = defineMessages(
  {
    video: 'Video',
    minutes: 'Minutes',
    erase: 'Subtitle erase',
    image: 'Image',
    response: 'Response',
    test: 'Test',
  },
  {
    video: '视频',
    minutes: '纪要',
    erase: '字幕擦除',
    image: '图片',
    response: '响应',
    test: '测试',
  },
)

function isKnown(kind: string): kind is keyof (typeof messages)['en'] {
  return Object.hasOwn(messages.en, kind)
}

export function useWorkKind(): (kind: string) => string {
  const { language } = useLanguage()
  return (kind) => (isKnown(kind) ? messages[language][kind] : kind)
}
