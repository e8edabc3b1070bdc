/** Translates an answer of the contents format to a chat completion, or to its chunks. */
import type { ChatAnswerOptions } from '../chat-over-messages/answer.ts'
import { writeChat } from '../chat-over-messages/writer.ts'
import { ContentsReader, type ContentsReaderOptions } from '../contents/read-parts.ts'
import type { Relay } from '../relay.ts'

export interface ContentsChatOptions extends ChatAnswerOptions {
  readonly stream: boolean
  readonly reading: ContentsReaderOptions
}

export function createContentsChat(options: ContentsChatOptions): Relay {
  const reader = new ContentsReader(options.reading)
  return writeChat(reader, options, options.stream ? 'stream' : 'whole')
}
