// The latest requests as received, so that tests can check which headers a gateway added and
// removed, and the body byte for byte.

export interface ReceivedCall {
  sequence: number
  at: number
  method: string
  url: string
  /** In order and case as received. */
  raw_headers: [string, string][]
  headers: Record<string, string>
  body_base64: string
  vendor: string
  operation: string
}

export class CallLog {
  private ring: { call: Omit<ReceivedCall, 'body_base64'>; body: Buffer }[] = []
  private sequence = 0
  private readonly capacity: number
  recording: boolean

  constructor(options: { capacity: number; recording: boolean }) {
    this.capacity = options.capacity
    this.recording = options.recording
  }

  record(
    call: { method: string; url: string; rawHeaders: string[]; vendor: string; operation: string },
    body: Buffer,
  ): void {
    this.sequence += 1
    const raw_headers: [string, string][] = []
    const headers: Record<string, string> = {}
    for (let index = 0; index + 1 < call.rawHeaders.length; index += 2) {
      const name = call.rawHeaders[index] ?? ''
      const value = call.rawHeaders[index + 1] ?? ''
      raw_headers.push([name, value])
      const key = name.toLowerCase()
      headers[key] = key in headers ? `${headers[key]}, ${value}` : value
    }
    const { method, url, vendor, operation } = call
    const record = { method, url, vendor, operation, raw_headers, headers }
    this.ring.push({ call: { sequence: this.sequence, at: Date.now(), ...record }, body })
    if (this.ring.length > this.capacity) this.ring.shift()
  }

  list(since = 0): ReceivedCall[] {
    return this.ring
      .filter(({ call }) => call.sequence > since)
      .map(({ call, body }) => ({ ...call, body_base64: body.toString('base64') }))
  }

  clear(): void {
    this.ring = []
  }
}
