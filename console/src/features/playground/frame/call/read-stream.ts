/** Answers that come in parts: lines, and the data of server-sent events. */

/** Whole lines as they come; the last one need not end. */
export async function* readLines(response: Response): AsyncGenerator<string> {
  let rest = ''
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + part).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

const DATA = /^data: ?/

/** The documents of an event stream; its end mark and its comments are left out. */
export async function* readEvents(response: Response): AsyncGenerator<unknown> {
  for await (const line of readLines(response)) {
    if (!DATA.test(line)) continue
    const data = line.replace(DATA, '').trim()
    if (data.startsWith('{')) yield JSON.parse(data)
  }
}
