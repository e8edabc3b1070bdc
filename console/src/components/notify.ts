/** A word in the corner about something that was done. Refusals stand where they happened. */
import { notifications } from '@mantine/notifications'

const SHOWN_MS = 4_000

export function notifyDone(message: string): void {
  notifications.show({ message, color: 'teal', autoClose: SHOWN_MS, withBorder: true })
}

export function notifyFailed(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  notifications.show({ message, color: 'red', autoClose: 2 * SHOWN_MS, withBorder: true })
}
