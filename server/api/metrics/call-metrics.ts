/**
 * Metrics of calls by endpoint, model and channel. The number of these combinations is bounded, and
 * no account, key, request or task is ever a label.
 */
import type { Registry } from 'prom-client'
import { TOKEN_UNITS, type Unit, unitsOf } from '../../base/lib/units.ts'
import type {
  CallPlace,
  PipelineMetrics,
  SettledCall,
} from '../../work/pipeline/pipeline-metrics.ts'
import {
  createDeferredHistogram,
  createDeferredSums,
  type DeferredSum,
  memoize,
  once,
} from './deferred.ts'

/** From one millisecond to the longest wait for a whole answer. */
const SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
]
const TOKEN_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.2, 0.5, 1, 2.5]

const PLACE = ['endpoint', 'model', 'channel'] as const
const TOKENS: ReadonlySet<Unit> = new Set(TOKEN_UNITS)
const NANOS = 1e9

/** `placesMax`: the most combinations of endpoint, model and channel with figures of their own. */
export function createCallMetrics(
  registry: Registry,
  placesMax: number,
): Omit<PipelineMetrics, 'converted'> {
  const requests = createRequestMetrics(registry)
  const counters = createCounters(registry)
  const times = createTimes(registry)
  const figuresOf = createPlaces(placesMax, (labels) => {
    const ofLabel = <Label extends string>(
      label: Label,
      create: (labels: CallPlace & Record<Label, string>) => DeferredSum,
    ) =>
      memoize((value) =>
        create({ ...labels, [label]: value } as typeof labels & Record<Label, string>),
      )
    return {
      firstToken: once(() => times.firstToken(labels)),
      perToken: once(() => times.perToken(labels)),
      upstream: memoize((outcome) => times.upstream({ ...labels, outcome })),
      calls: ofLabel('status', counters.calls),
      tokens: ofLabel('kind', counters.tokens),
      units: ofLabel('unit', counters.units),
      charged: ofLabel('currency', counters.charged),
      cost: ofLabel('currency', counters.cost),
      attempts: ofLabel('outcome', counters.attempts),
    }
  })
  const takenOutOf = createPlaces(placesMax, ({ endpoint, model }) =>
    memoize((tool) => counters.takenOut({ endpoint, model, tool })),
  )
  const settlements = memoize((basis) => counters.settled({ basis, review: 'false' }))
  const reviews = memoize((basis) => counters.settled({ basis, review: 'true' }))
  const differing = counters.differing({})
  return {
    call: requests,
    settled(call) {
      const kind = call.review ? reviews : settlements
      kind(call.basis).sum += 1
      count(figuresOf(call), call)
    },
    streamed(stream) {
      const { firstTokenSeconds, perTokenSeconds } = stream
      const { firstToken, perToken } = figuresOf(stream)
      firstToken().observe(firstTokenSeconds)
      if (perTokenSeconds !== undefined) perToken().observe(perTokenSeconds)
    },
    tookOut({ tool, ...place }) {
      takenOutOf({ ...place, channel: '' })(tool).sum += 1
    },
    upstreamCostDiffers() {
      differing.sum += 1
    },
    attempt(attempt) {
      const { outcome, seconds } = attempt
      const { attempts, upstream } = figuresOf(attempt)
      attempts(outcome).sum += 1
      if (seconds !== undefined) upstream(outcome).observe(seconds)
    },
  }
}

function createRequestMetrics(registry: Registry): PipelineMetrics['call'] {
  const registers = [registry]
  const requests = createDeferredSums({
    name: 'tributary_requests_total',
    help: 'Requests by route, status and outcome.',
    labelNames: ['route', 'status', 'outcome'],
    registers,
  })
  const durations = createDeferredHistogram({
    name: 'tributary_request_seconds',
    help: 'Time from the request head to the end of the response.',
    labelNames: ['route'],
    buckets: SECONDS,
    registers,
  })
  const refusals = createDeferredSums({
    name: 'tributary_refusals_total',
    help: 'Requests that got an error, by route and reason.',
    labelNames: ['route', 'reason'],
    registers,
  })
  const ofRoute = memoize((route) => ({
    durations: durations({ route }),
    requests: memoize((outcome) => memoize((status) => requests({ route, status, outcome }))),
    refusals: memoize((reason) => refusals({ route, reason })),
  }))
  return ({ route, outcome, status, seconds, refusal }) => {
    const figures = ofRoute(route)
    figures.requests(outcome)(String(status)).sum += 1
    figures.durations.observe(seconds)
    if (refusal !== undefined) figures.refusals(refusal).sum += 1
  }
}

function createCounters(registry: Registry) {
  const registers = [registry]
  const counter = <Label extends string>(name: string, help: string, labels: readonly Label[]) =>
    createDeferredSums({ name, help, labelNames: labels, registers })
  return {
    calls: counter('tributary_calls_total', 'Metered calls and tasks by how they ended.', [
      ...PLACE,
      'status',
    ]),
    tokens: counter('tributary_tokens_total', 'Tokens by kind, as they are charged.', [
      ...PLACE,
      'kind',
    ]),
    units: counter('tributary_units_total', 'Characters, seconds, images and other units.', [
      ...PLACE,
      'unit',
    ]),
    charged: counter('tributary_charged_total', 'Sum of charges, in units of the currency.', [
      ...PLACE,
      'currency',
    ]),
    cost: counter('tributary_upstream_cost_total', 'Sum of known upstream costs.', [
      ...PLACE,
      'currency',
    ]),
    settled: counter(
      'tributary_settlements_total',
      'Settled or released calls by the basis of their charge.',
      ['basis', 'review'],
    ),
    attempts: counter(
      'tributary_upstream_attempts_total',
      'Attempts at upstreams by their outcome.',
      [...PLACE, 'outcome'],
    ),
    takenOut: counter(
      'tributary_tools_taken_out_total',
      'Answers to requests from which a tool without a price was removed.',
      ['endpoint', 'model', 'tool'],
    ),
    differing: counter(
      'tributary_costs_differing_total',
      'Calls for which the upstream stated a cost that differs by more than 1 % from the ' +
        'route’s costs.',
      [],
    ),
  }
}

interface PlaceCounters {
  readonly calls: (status: string) => DeferredSum
  readonly tokens: (kind: string) => DeferredSum
  readonly units: (unit: string) => DeferredSum
  readonly charged: (currency: string) => DeferredSum
  readonly cost: (currency: string) => DeferredSum
}

function count(counters: PlaceCounters, call: SettledCall): void {
  const { status, quantities, currency, chargedNanos, upstreamCostNanos } = call
  counters.calls(status).sum += 1
  for (const unit of unitsOf(quantities)) {
    const quantity = quantities[unit] ?? 0
    if (!(quantity > 0)) continue
    const { tokens, units } = counters
    const sums = TOKENS.has(unit) ? tokens : units
    sums(unit).sum += quantity
  }
  if (chargedNanos > 0n) counters.charged(currency).sum += Number(chargedNanos) / NANOS
  if (upstreamCostNanos > 0n) counters.cost(currency).sum += Number(upstreamCostNanos) / NANOS
}

function createTimes(registry: Registry) {
  const histogram = <Label extends string>(
    name: string,
    help: string,
    labels: readonly Label[],
    buckets: number[],
  ) => createDeferredHistogram({ name, help, labelNames: labels, buckets, registers: [registry] })
  return {
    firstToken: histogram(
      'tributary_time_to_first_token_seconds',
      'Time from the request head to the first output of a stream.',
      PLACE,
      SECONDS,
    ),
    perToken: histogram(
      'tributary_time_per_output_token_seconds',
      'Mean time of the output tokens after the first, per stream.',
      PLACE,
      TOKEN_SECONDS,
    ),
    upstream: histogram(
      'tributary_upstream_seconds',
      'Time of an attempt until its whole answer or the first event of its stream.',
      [...PLACE, 'outcome'],
      SECONDS,
    ),
  }
}

const OTHER = 'other'

/**
 * Returns a function that finds the metrics of a combination, which `create` makes once.
 * Combinations after the first `most` share the model and the channel `other`; the number of
 * endpoints is fixed by the code.
 */
function createPlaces<Figures>(
  most: number,
  create: (place: CallPlace) => Figures,
): (place: CallPlace) => Figures {
  // Nested maps by endpoint, model and channel: a combined key would have to be built and hashed
  // for each call.
  const known = new Map<string, Map<string, Map<string, Figures>>>()
  const others = new Map<string, Figures>()
  let size = 0

  function add({ endpoint, model, channel }: CallPlace): Figures {
    const figures = create({ endpoint, model, channel })
    const ofEndpoint = known.get(endpoint) ?? new Map<string, Map<string, Figures>>()
    const ofModel = ofEndpoint.get(model) ?? new Map<string, Figures>()
    known.set(endpoint, ofEndpoint.set(model, ofModel.set(channel, figures)))
    size += 1
    return figures
  }

  function other(endpoint: string): Figures {
    let figures = others.get(endpoint)
    if (!figures) {
      figures = create({ endpoint, model: OTHER, channel: OTHER })
      others.set(endpoint, figures)
    }
    return figures
  }

  return (place) => {
    const own = known.get(place.endpoint)?.get(place.model)?.get(place.channel)
    return own ?? (size < most ? add(place) : other(place.endpoint))
  }
}
