/** A gateway in this process with the scripted vendor of interpretation behind it. */
import { type AstVendor, startAstVendor } from './ast-vendor.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from './in-process.ts'
import { makeWav } from './wav.ts'

export const ROUTE = '/v1/audio/translations'
export const MODEL = 'test-ast'

export interface Booth {
  readonly gateway: TestGateway
  readonly vendor: AstVendor
  /** Sends a form in the order of its entries; a Buffer is a file. Files default to 4 s. */
  ask(key: string, form: readonly FormEntry[], headers?: object): Promise<TestAnswer>
  open(
    key: string,
    form: readonly FormEntry[],
    headers?: object,
    signal?: AbortSignal,
  ): Promise<Response>
  stop(): Promise<void>
}

export type FormEntry = readonly [name: string, value: string | Buffer]

export const FILE: FormEntry = ['file', makeWav(4_000)]
export const TO_TEXT: readonly FormEntry[] = [['model', MODEL], FILE]
export const TO_SPEECH: readonly FormEntry[] = [['model', MODEL], ['mode', 's2s'], FILE]

export function encodeForm(form: readonly FormEntry[]): FormData {
  const data = new FormData()
  for (const [name, value] of form) {
    if (typeof value === 'string') data.append(name, value)
    else data.append(name, new Blob([new Uint8Array(value)], { type: 'audio/wav' }), 'a.wav')
  }
  return data
}

/** Prices that show in a charge which token was which: 1 nano for input, 1,000 for output. */
export function astCatalog(url: string, paceMs = 0, settings: object = {}): object {
  return {
    channels: [
      {
        id: 'test-ast-channel',
        upstream: 'doubao-ast',
        settings: { base_url: url, api_key: 'vendor-key', pace_ms: paceMs, ...settings },
      },
    ],
    models: [
      {
        id: MODEL,
        type: 'ast',
        prices: [
          { unit: 'input_token', per: 1, amount: '0.000000001' },
          { unit: 'output_token', per: 1, amount: '0.000001' },
        ],
        routes: [{ channel: 'test-ast-channel', upstream_model: 'volc.service_type.10053' }],
      },
    ],
  }
}

/** Without a pace of speech, audio is heard as fast as it is sent. */
export async function openBooth(
  environment: Readonly<Record<string, string>> = {},
  paceMs = 0,
): Promise<Booth> {
  const vendor = await startAstVendor()
  const gateway = await startTestGateway(environment)
  await gateway.apply(astCatalog(vendor.url, paceMs), 'ast')
  const open: Booth['open'] = (key, form, headers = {}, signal) =>
    gateway.fetch(ROUTE, {
      method: 'POST',
      body: encodeForm(form),
      headers: { ...headers },
      ...(key === '' ? {} : { key }),
      ...(signal ? { signal } : {}),
    })
  return {
    gateway,
    vendor,
    open,
    async ask(key, form, headers) {
      const answer = await open(key, form, headers)
      const text = await answer.text()
      const json = answer.headers.get('content-type')?.includes('json')
        ? JSON.parse(text)
        : undefined
      return { status: answer.status, headers: answer.headers, text, json }
    },
    async stop() {
      await gateway.stop()
      await vendor.stop()
    },
  }
}
