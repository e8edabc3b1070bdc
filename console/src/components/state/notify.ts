/** Toasts for completed actions. Refused forms show their error in place. */
import { notifications } from '@mantine/notifications'
import type { Language } from '../../lib/language.ts'
import { translateServerText } from '../../lib/words/server-texts.ts'
import { messages } from '../messages.ts'

const SHOWN_MS = 4_000

/** Toasts are shown from outside of components: the document has the language. */
function languageOfDocument(): Language {
  return document.documentElement.lang.startsWith('zh') ? 'zh' : 'en'
}

function closeButton() {
  return { 'aria-label': messages[languageOfDocument()].close }
}

export function notifyDone(message: string): void {
  const appearance = { color: 'teal', withBorder: true, closeButtonProps: closeButton() }
  notifications.show({ message, autoClose: SHOWN_MS, ...appearance })
}

export function notifyFailed(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error)
  const message = translateServerText(text, languageOfDocument())
  const appearance = { color: 'red', withBorder: true, closeButtonProps: closeButton() }
  notifications.show({ message, autoClose: 2 * SHOWN_MS, ...appearance })
}
