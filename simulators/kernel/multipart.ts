// Reads a form from its bytes: fields as text, files as buffers, lists (`name[]`) as arrays.

export type Form = Record<string, string | string[] | Buffer | Buffer[]>

/** Returns undefined if the body is not such a form. */
export function readForm(contentType: string, body: Buffer): Form | undefined {
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType)) {
    return Object.fromEntries(new URLSearchParams(body.toString()))
  }
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)"?/i.exec(contentType)?.[1]
  if (boundary === undefined) return undefined
  const mark = Buffer.from(`--${boundary}`)
  const form: Form = {}
  let from = body.indexOf(mark)
  for (;;) {
    const next = body.indexOf(mark, from + mark.length)
    if (from < 0 || next < 0) return form
    add(form, body.subarray(from + mark.length + 2, next - 2))
    from = next
  }
}

function add(form: Form, part: Buffer): void {
  const end = part.indexOf('\r\n\r\n')
  const head = part.toString('utf8', 0, Math.max(0, end))
  const name = /[; ]name="([^"]*)"/.exec(head)?.[1]
  if (end < 0 || name === undefined) return
  const content = part.subarray(end + 4)
  const earlier = form[name]
  if (/filename="/.test(head)) {
    const files = (Array.isArray(earlier) ? earlier : []) as Buffer[]
    form[name] = name.endsWith('[]') ? [...files, content] : content
  } else if (name.endsWith('[]')) {
    form[name] = [...((Array.isArray(earlier) ? earlier : []) as string[]), content.toString()]
  } else form[name] = content.toString()
}
