/**
 * The vendor of the proof: every text dialect, embeddings, images, speech and video on one port. It
 * counts the received bytes, does the work of the case's plan, records its price in its own book,
 * and only then answers. It runs in the proof's process and does not depend on a gateway.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerFor } from '../answers/answer.ts'
import { BENDS } from '../answers/bend.ts'
import { CUTS } from '../answers/broken.ts'
import { answerTranscription, videoTask } from '../answers/media.ts'
import { jsonScript, type Piece, type Script } from '../answers/script.ts'
import { CREATIONS, findLook } from '../answers/seconds-tasks.ts'
import { type Arrival, type Case, findMarker, type WorkPlan } from '../plan.ts'
import { type Sheet, sheetOf } from '../sheet.ts'
import { inputOf, type Work, worthOf } from './bill.ts'

export interface Vendor {
  readonly url: string
  /** Allows these cases from now on. */
  expect(cases: readonly Case[]): void
  /** Returns the requests received for a case, in order. */
  arrivals(caseId: number): readonly Arrival[]
  /** Called for each request before it is answered. */
  onArrival: (testCase: Case) => Promise<void>
  /** Forgets a finished case. */
  forget(caseId: number): void
  /** Requests without a case: there must be none. */
  readonly strays: readonly string[]
  stop(): Promise<void>
}

interface State {
  readonly cases: Map<number, Case>
  readonly arrivals: Map<number, Arrival[]>
  readonly tasks: Map<
    string,
    { readonly testCase: Case; readonly work: Work; readonly model: string }
  >
  /** Tokens of finished calls that later ones may build on. */
  readonly histories: Map<number, number>
  readonly strays: string[]
}

const TASKS = '/ark/contents/generations/tasks'
const TOKENS = '/google/token'

export async function startVendor(): Promise<Vendor> {
  const state: State = {
    cases: new Map(),
    arrivals: new Map(),
    tasks: new Map(),
    histories: new Map(),
    strays: [],
  }
  const vendor = { onArrival: async (_: Case): Promise<void> => {} }
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    response.on('error', () => undefined)
    serve({ state, vendor }, request, response).catch((error: unknown) => {
      if (!request.destroyed) state.strays.push(`${request.url}: ${String(error)}`)
      response.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return Object.assign(vendor, {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    strays: state.strays,
    expect(cases: readonly Case[]) {
      for (const testCase of cases) state.cases.set(testCase.id, testCase)
    },
    arrivals: (caseId: number) => state.arrivals.get(caseId) ?? [],
    forget(caseId: number) {
      state.cases.delete(caseId)
      state.arrivals.delete(caseId)
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}

async function serve(
  { state, vendor }: { readonly state: State; readonly vendor: Pick<Vendor, 'onArrival'> },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '').split('?')[0] ?? ''
  if (request.method === 'GET') return showTask(state, path, request.url ?? '', response)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  if (path === TOKENS) {
    await write(response, jsonScript({ access_token: 'token', expires_in: 3_599 }))
    return
  }
  const caseId = findMarker(body)
  const testCase = caseId === undefined ? undefined : state.cases.get(caseId)
  if (!testCase) {
    state.strays.push(`${path}: ${body.toString('latin1', 0, 300)}`)
    await write(response, jsonScript({ error: { message: 'who is this?' } }, 400))
    return
  }
  const arrival = take(state, testCase, path, body)
  await vendor.onArrival(testCase)
  const script = arrival.refused
    ? refusalOf(testCase)
    : scriptFor(state, testCase, path, body, arrival)
  arrival.answer = describe(script)
  arrival.finished = await write(response, script)
}

function take(state: State, testCase: Case, path: string, body: Buffer): Arrival {
  const history =
    testCase.work.buildsOn === undefined ? 0 : state.histories.get(testCase.work.buildsOn)
  const sheet = sheetOf(testCase.model)
  const work = serveTier(sheet, doWork(testCase.work, body.length, history ?? 0), body)
  const refused = testCase.answer.refusal !== undefined
  const arrival: Arrival = {
    caseId: testCase.id,
    atMs: Date.now(),
    path,
    bytes: body.length,
    work,
    stated: refused ? undefined : statedWork(testCase, work, path),
    worth: refused ? 0n : worthOf(sheet, work),
    refused,
    answer: '',
    finished: false,
  }
  state.histories.set(testCase.id, inputOf(work.counts) + (work.counts.output_token ?? 0))
  const earlier = state.arrivals.get(testCase.id)
  if (earlier) earlier.push(arrival)
  else state.arrivals.set(testCase.id, [arrival])
  return arrival
}

function refusalOf({ answer }: Case): Script {
  const status = answer.refusal ?? 400
  const error = { type: 'invalid_request_error', code: null, message: 'refused', param: null }
  return jsonScript({ type: 'error', error }, status)
}

function scriptFor(
  state: State,
  testCase: Case,
  path: string,
  body: Buffer,
  { work }: Arrival,
): Script {
  if (testCase.dialect === 'transcription') return answerTranscription(testCase)
  const { model, stream } = readAsked(body)
  const answerOf = path === TASKS ? (id: string) => ({ id }) : CREATIONS[path]
  if (!answerOf) return answerFor(testCase, work, path, { model, stream })
  const id = `cgt-pp-${testCase.id}-${state.tasks.size}`
  state.tasks.set(id, { testCase, work, model })
  return jsonScript(answerOf(id))
}

function readAsked(body: Buffer): { readonly model: string; readonly stream: boolean } {
  const value: unknown = JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''))
  const document = typeof value === 'object' && value !== null ? value : {}
  const model =
    'model' in document && typeof document.model === 'string' ? document.model : 'unknown'
  return { model, stream: 'stream' in document && document.stream === true }
}

async function showTask(
  state: State,
  path: string,
  url: string,
  response: ServerResponse,
): Promise<void> {
  await write(response, shownTask(state, path, url))
}

function shownTask({ tasks, strays }: State, path: string, url: string): Script {
  const look = findLook(url)
  const id = look?.id ?? decodeURIComponent(path.slice(TASKS.length + 1))
  const task = tasks.get(id)
  if (task && look) return look.show(task.testCase, task.work)
  if (task) return jsonScript(videoTask(task.testCase, task.work, id, task.model))
  if (path === TASKS) return jsonScript({ items: [], total: 0 })
  strays.push(`GET ${url}`)
  return jsonScript({ error: { code: 'ResourceNotFound', message: 'no such task' } }, 404)
}

/** Resolves to true if everything was written. */
async function write(response: ServerResponse, script: Script): Promise<boolean> {
  response.writeHead(script.status, script.headers)
  for (const piece of script.pieces) {
    if (response.destroyed) return false
    if (piece === 'reset') {
      response.destroy()
      return true
    }
    if (Buffer.isBuffer(piece)) await send(response, piece)
    else await sleep(piece.waitMs)
  }
  response.end()
  return true
}

/** Waits for the socket to drain: an endless answer must not fill this process. */
function send(response: ServerResponse, piece: Buffer): Promise<void> {
  if (response.write(piece)) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}

/** Returns the start of an answer, for the report of an exception. */
function describe({ status, pieces }: Script): string {
  const list: readonly Piece[] = Array.isArray(pieces) ? pieces : []
  const texts = list.map((piece) => (Buffer.isBuffer(piece) ? piece.toString() : String(piece)))
  return `${status} ${texts.join('').slice(0, 6_000)}`
}

const OUTPUT = /^(audio_|image_)?output_token$/

/** Returns undefined if nothing is stated. */
function statedWork({ answer, expected }: Case, work: Work, path: string): Work | undefined {
  const { breakage } = answer
  if (breakage === undefined || expected === 'full') return work
  if (expected === 'unpriced' || expected === 'beyond') return work
  const bend = BENDS[breakage]
  if (bend) return partOf(work, bend.remains)
  // A message states its input before its first word.
  const cut = CUTS[breakage]
  const isMessage = /(?:\/messages|\/invoke[a-z-]*|[rR]awPredict)$/.test(path)
  if (isMessage && (cut || breakage === 'an error event')) return partOf(work, 'input')
  if (breakage === 'compressed' || breakage === 'a drip' || breakage === 'silence') return work
  return undefined
}

function partOf(work: Work, remains: 'none' | 'input' | 'output'): Work | undefined {
  if (remains === 'none') return undefined
  const isOutput = remains === 'output'
  const entries = Object.entries(work.counts).filter(([unit]) => OUTPUT.test(unit) === isOutput)
  return { counts: Object.fromEntries(entries), served: work.served, passes: [] }
}

/** A cheaper tier is served only to a request that asks for it. */
function serveTier({ usually = {} }: Sheet, work: Work, body: Buffer): Work {
  const isAsked = body.includes('service_tier') || body.includes('serviceTier')
  if (work.served.tier !== 'flex' || isAsked || usually.tier) return work
  return { ...work, served: { ...work.served, tier: 'standard' } }
}

/** `history`: input and output tokens of the calls that this one builds on. */
function doWork(plan: WorkPlan, bytes: number, history: number): Work {
  const perThousand = Math.min(plan.tokensPerThousandBytes, 1_000)
  const input = Math.floor((bytes * perThousand) / 1_000) + plan.hiddenInput + history
  const counts: Record<string, number> = {}
  let rest = input
  for (const [unit, thousandths] of Object.entries(plan.shares)) {
    const quantity = Math.floor((input * thousandths) / 1_000)
    if (quantity > 0) counts[unit] = quantity
    rest -= quantity
  }
  if (rest > 0) counts.input_token = rest
  for (const [unit, quantity] of Object.entries(plan.fixed)) {
    if (quantity > 0) counts[unit] = quantity
  }
  return {
    counts,
    served: plan.served,
    passes: plan.passes,
    ...(plan.cost === undefined ? {} : { costNanos: plan.cost }),
  }
}
