/** A word in the corner about something that was done. Refusals stand where they happened. */
import { notifications } from '@mantine/notifications'
import { messages } from '../messages.ts'

const SHOWN_MS = 4_000

/** No component stands around it: the language is the document's. */
function closeButton() {
  const language = document.documentElement.lang.startsWith('zh') ? 'zh' : 'en'
  return { 'aria-label': messages[language].close }
}

export function notifyDone(message: string): void {
  const look = { color: 'teal', withBorder: true, closeButtonProps: closeButton() }
  notifications.show({ message, autoClose: SHOWN_MS, ...look })
}

export function notifyFailed(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  const look = { color: 'red', withBorder: true, closeButtonProps: closeButton() }
  notifications.show({ message, autoClose: 2 * SHOWN_MS, ...look })
}
