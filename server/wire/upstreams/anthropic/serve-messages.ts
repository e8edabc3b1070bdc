/** The operations that any host of the messages format serves. */
import { completeByChat } from '../complete-by-chat.ts'
import type { Upstream } from '../upstream.ts'
import { createChat } from './chat.ts'
import type { MessagesHost } from './host.ts'
import { createMessages } from './messages.ts'
import { createResponses } from './responses.ts'
import type { MessagesSettings } from './settings.ts'

export function serveMessages<Settings extends MessagesSettings>(host: MessagesHost<Settings>) {
  const chat = createChat(host)
  return {
    calls: {
      messages: createMessages(host),
      chat,
      completion: completeByChat(chat, () => 'max_tokens'),
      responses: createResponses(host),
    },
    translates: (operation) => operation !== 'messages',
    translatesSearch: true,
  } satisfies Partial<Upstream<Settings>>
}
