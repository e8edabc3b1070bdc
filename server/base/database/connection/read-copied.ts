/**
 * The answer to a COPY, as a stream. The client (postgres 3.4) destroys the stream as soon as the
 * server reports an error. If the error arrives together with the beginning of the answer, this is
 * before whoever waits for the stream can listen to it, and an error without a listener ends the
 * process.
 */
import { Readable } from 'node:stream'
import type { PendingQuery, Row } from 'postgres'

/** The function by which the client hands the stream over, and at the end the result. */
interface Resolving {
  resolve: (answer: object) => void
}

/**
 * Runs `copy … to stdout`. Returns its rows, one per chunk; whoever reads them gets the server's
 * error at any time.
 */
export function readCopied(query: PendingQuery<Row[]>): Promise<Readable> {
  const resolving = query as unknown as Resolving
  const { resolve } = resolving
  resolving.resolve = (answer) => {
    if (answer instanceof Readable) answer.on('error', () => undefined)
    resolve(answer)
  }
  return query.readable()
}
