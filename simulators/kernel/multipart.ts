// Reads a form from its bytes: fields as text, lists (`name[]`) as arrays, files as buffers.

export type Form = Record<string, string | string[] | Buffer>

/** Returns undefined if the body is not such a form. */
export function readForm(contentType: string, body: Buffer): Form | undefined {
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
  if (/filename="/.test(head)) form[name] = content
  else if (name.endsWith('[]')) {
    const earlier = form[name]
    form[name] = [...(Array.isArray(earlier) ? earlier : []), content.toString()]
  } else form[name] = content.toString()
}
