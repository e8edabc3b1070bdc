/** Reads streamed answers: lines, and the data of server-sent events. */

/** Yields whole lines as they arrive; the last one may lack its line feed. */
export async function* readLines(response: Response): AsyncGenerator<string> {
  let unfinished = ''
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (unfinished + part).split('\n')
    unfinished = lines.pop() ?? ''
    yield* lines
  }
  if (unfinished !== '') yield unfinished
}

const DATA = /^data: ?/

/** Yields the documents of an event stream, without `[DONE]` and comments. */
export async function* readEvents(response: Response): AsyncGenerator<unknown> {
  for await (const line of readLines(response)) {
    if (!DATA.test(line)) continue
    const data = line.replace(DATA, '').trim()
    if (data.startsWith('{')) yield JSON.parse(data)
  }
}
