/** Toasts for completed actions. Refused forms show their error in place. */
import { type NotificationData, notifications } from '@mantine/notifications'
import type { Language } from '../../lib/language.ts'
import { translateServerText } from '../../lib/words/server-texts.ts'
import { messages } from '../messages.ts'

const SHOWN_MS = 4_000

/** A newer toast replaces an older one: a stack would reach down to the fields. */
function show(toast: NotificationData): void {
  notifications.clean()
  notifications.show({ withBorder: true, closeButtonProps: closeButton(), ...toast })
}

/** Toasts are shown from outside of components: the document has the language. */
function languageOfDocument(): Language {
  return document.documentElement.lang.startsWith('zh') ? 'zh' : 'en'
}

function closeButton() {
  return { 'aria-label': messages[languageOfDocument()].close }
}

export function notifyDone(message: string): void {
  show({ message, color: 'teal', autoClose: SHOWN_MS })
}

export function notifyFailed(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error)
  const message = translateServerText(text, languageOfDocument())
  show({ message, color: 'red', autoClose: 2 * SHOWN_MS })
}
