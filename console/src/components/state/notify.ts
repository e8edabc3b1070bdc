/** Toasts for completed actions. Refused forms show their error in place. */
import { notifications } from '@mantine/notifications'
import { messages } from '../messages.ts'

const SHOWN_MS = 4_000

/** Uses the document's language, since it runs outside of components. */
function closeButton() {
  const language = document.documentElement.lang.startsWith('zh') ? 'zh' : 'en'
  return { 'aria-label': messages[language].close }
}

export function notifyDone(message: string): void {
  const appearance = { color: 'teal', withBorder: true, closeButtonProps: closeButton() }
  notifications.show({ message, autoClose: SHOWN_MS, ...appearance })
}

export function notifyFailed(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  const appearance = { color: 'red', withBorder: true, closeButtonProps: closeButton() }
  notifications.show({ message, autoClose: 2 * SHOWN_MS, ...appearance })
}
