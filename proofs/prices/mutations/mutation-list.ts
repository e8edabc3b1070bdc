/** Small mistakes in the pricing code, each against one rule, and the checks that must fail. */

export interface Mutation {
  readonly rule: string
  readonly mistake: string
  readonly file: string
  /** Must occur exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** The first of the cases of which some must fail; 0 by default. */
  readonly first?: number
  /** Test files that must fail; the price proof if absent. */
  readonly tests?: readonly string[]
}

const CHARGE = 'server/work/pipeline/price/charge.ts'
const TEXT = 'server/api/endpoints/text/billing/text-billing.ts'
const NAMED_FIELDS = "JSON.stringify(value.messages ?? value.input ?? '').length"

export const MUTATIONS: readonly Mutation[] = [
  {
    rule: 'A factor rounds each amount up, once',
    mistake: 'rounds down',
    file: 'server/money/catalog/price/factor.ts',
    find: 'return divideUp(nanos * factor, ONE)',
    replace: 'return (nanos * factor) / ONE',
    tests: ['tests/catalog/factor.test.ts'],
  },
  {
    rule: 'A plan of a list begins and ends at its moments',
    mistake: 'forgets the end',
    file: 'server/money/catalog/list.ts',
    find: '(until === undefined || atMs < Date.parse(until))',
    replace: 'true',
    tests: ['tests/catalog/price-lists.test.ts'],
  },
  {
    rule: 'What costs most of all routes is the cost, paused channels included',
    mistake: 'takes the least',
    file: 'server/money/catalog/price/dearest-cost.ts',
    find: 'return ofB * BigInt(a.per) > ofA * BigInt(b.per) ? b : a',
    replace: 'return ofB * BigInt(a.per) < ofA * BigInt(b.per) ? b : a',
    tests: ['tests/catalog/price-lists.test.ts'],
  },
  {
    rule: 'The ceiling counts the whole body as it was sent',
    mistake: 'counts named fields only',
    file: TEXT,
    find: 'const sent = body.length *',
    replace: `const value = JSON.parse(body.toString()); const sent = ${NAMED_FIELDS} *`,
  },
  {
    rule: 'The hold counts the whole body as it was sent',
    mistake: 'counts named fields only',
    file: TEXT,
    find: 'const inputTokens = countInputCeiling(body.length, measure)',
    replace: `const inputTokens = countInputCeiling(${NAMED_FIELDS}, measure)`,
  },
  {
    rule: 'An item with an id may have its content at the vendor',
    mistake: 'takes the body to be all of it',
    file: 'server/api/endpoints/text/billing/measure-responses.ts',
    find: '  if (!isAbsent(item.id)) addElsewhere(measure, 0)\n',
    replace: '',
  },
  {
    rule: 'Of several limits the largest counts, and null is none',
    mistake: 'the first limit wins, also when it is null',
    file: TEXT,
    find: 'if (limit !== undefined && (most === undefined || limit > most)) most = limit',
    replace: 'if (value[name] !== undefined && most === undefined) most = limit ?? 1',
  },
  {
    rule: 'Stated usage below the ceiling is charged as stated',
    mistake: 'charges the hold above ten holds',
    file: CHARGE,
    find: '  const review = isClamped || isUnknown || isUnpriced\n',
    replace:
      '  if (priced.totalNanos > holdNanos * 10n) return chargeHold(input, basis)\n' +
      '  const review = isClamped || isUnknown || isUnpriced\n',
  },
  {
    rule: 'Usage beyond the ceiling is cut down and reviewed',
    mistake: 'believes every figure',
    file: CHARGE,
    find: 'const main = clampToCeiling(stated, holdEstimate.ceiling)',
    replace: 'const main = { quantities: stated, isClamped: false }',
  },
  {
    rule: 'An estimate never takes more than the hold',
    mistake: 'charges the whole estimate',
    file: 'server/work/pipeline/price/fit-estimate.ts',
    find: 'if (price(at(STEPS)) <= most) return at(STEPS)',
    replace: 'if (most >= 0n) return at(STEPS)',
    tests: ['tests/pipeline/charge.test.ts'],
  },
  {
    rule: 'Null, text and fractions are not stated',
    mistake: 'reads whatever Number makes of it',
    file: 'server/wire/dialects/usage/read-count.ts',
    find: 'Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) + 0 : undefined',
    replace: 'Math.max(0, Math.trunc(Number(value))) || 0',
  },
  {
    rule: 'The output of message_start is a placeholder',
    mistake: 'believes it',
    file: 'server/wire/dialects/messages/read-usage.ts',
    find: "const usage = withoutPlaceholders(member(message, 'usage'))",
    replace: "const usage = member(message, 'usage')",
    first: 4_600,
  },
  {
    rule: 'Reasoning stated beside the output is output',
    mistake: 'takes it to be inside',
    file: 'server/wire/dialects/chat/split-tokens.ts',
    find: 'addCounts(room.remaining, readOutside(usage, input, outputTokens)) ?? room.remaining',
    replace: 'room.remaining',
  },
  {
    rule: 'A price that names no tier is the price of the standard one only',
    mistake: 'sells every tier at the base price',
    file: 'server/money/catalog/price/strict-facts.ts',
    find: "if (name === 'model' || named.has(name) || !isChannels) toName",
    replace: "if (name === 'model') toName",
  },
  {
    rule: 'A call is billed as it was served',
    mistake: 'bills it as it was asked for',
    file: 'server/work/pipeline/price-end.ts',
    find: 'if (served !== undefined) facts[name] = served',
    replace: 'if (served !== undefined) facts[name] ??= served',
  },
  {
    rule: 'A write for an hour has a price of its own',
    mistake: 'sells it at the price of five minutes',
    file: 'server/money/catalog/price/price.ts',
    find: "  cached_audio_input_token: 'audio_input_token',\n",
    replace: "  cache_write_1h_token: 'cache_write_5m_token',\n",
  },
  {
    rule: 'Passes of other models are billed',
    mistake: 'forgets them',
    file: CHARGE,
    find: 'if (passes.length === 0) return { ...main, passes: NO_PASSES }',
    replace: 'if (passes.length >= 0) return { ...main, passes: NO_PASSES }',
  },
  {
    rule: 'A cost that the vendor states is the charge where it is sold so',
    mistake: 'bills tokens',
    file: CHARGE,
    find: 'const cost = soldCost(model, report.statedCost)',
    replace: 'const cost = soldCost({ ...model, prices: [] }, report.statedCost)',
  },
  {
    rule: 'Each line is rounded up once',
    mistake: 'rounds down',
    file: 'server/base/lib/money.ts',
    find: 'return (dividend + divisor - 1n) / divisor',
    replace: 'return dividend / divisor',
  },
  {
    rule: 'A later statement of usage takes nothing back',
    mistake: 'believes the last one',
    file: 'server/wire/dialects/usage/read-count.ts',
    find: 'return isLess ? merge(earlier, later, takeLarger) : merged',
    replace: 'return isLess ? merged : merged',
  },
  {
    rule: 'The end of a message is believed about an estimated start',
    mistake: 'charges the estimate',
    file: 'server/wire/dialects/messages/merge-usage.ts',
    find: 'const isWhole = input > 0 && output > 0',
    replace: 'const isWhole = input > 0 && output > 0 && input < 0',
  },
  {
    rule: 'An object of a conversation has a key once',
    mistake: 'leaves conversations alone',
    file: 'server/wire/dialects/json-scan.ts',
    find: "if (readKeys(scannerAt(bytes, member.valueStart)) === 'repeated') return member",
    replace: '',
    tests: ['tests/dialects/json-scan.test.ts'],
  },
  {
    rule: 'Calls whose input is elsewhere run one at a time on a small balance',
    mistake: 'lets all of them run',
    file: 'server/work/pipeline/hold/quote.ts',
    find: '...(excessNanos && excessNanos > 0n ? { excessNanos } : {}),',
    replace: '',
    tests: ['tests/pipeline/load/open-input.test.ts'],
  },
  {
    rule: 'Callers name only what the gateway gave to their account',
    mistake: 'forwards every id',
    file: 'server/work/pipeline/request/pin-stored.ts',
    find: 'const isUnknown = unknown !== undefined || isLost',
    replace: 'const isUnknown = isLost',
    tests: ['tests/endpoints/text/references/stored-content.test.ts'],
  },
  {
    rule: 'A namespace leaves with its last tool',
    mistake: 'leaves it empty',
    file: 'server/api/endpoints/text/billing/take-out-tools.ts',
    find: 'if (isGroup && inner.length > 0 && !filled.has(tool)) leaving.add(tool)',
    replace: '',
    tests: ['tests/endpoints/text/take-out-tools.test.ts'],
  },
  {
    rule: 'The length of a recording is that of its samples',
    mistake: 'forgets the last block',
    file: 'server/base/lib/media/sound/read-wav-sound.ts',
    find: 'return Math.floor(bytes / blockBytes) * whole + Math.max(0, rest)',
    replace: 'return Math.floor(bytes / blockBytes) * whole',
    tests: ['tests/lib/media/sound/measure-sound.test.ts'],
  },
  {
    rule: 'A member that may decide the size of a picture is refused',
    mistake: 'reads the top alone',
    file: 'server/api/endpoints/images/refuse-other-sizes.ts',
    find: 'if (isDeep && depth > 0) refuseInside',
    replace: 'if (isDeep && depth < 0) refuseInside',
    tests: ['tests/endpoints/images/image-generations.test.ts'],
  },
  {
    rule: 'A complete error of the vendor refuses the creation of a task',
    mistake: 'takes it for a lost answer',
    file: 'server/wire/upstreams/failure.ts',
    find: "if (kind !== 'unknown' || !details.isStated) return failure",
    replace: "if (kind === 'unknown' || !details.isStated) return failure",
    tests: ['tests/tasks/submit/creation-failures.test.ts'],
  },
  {
    rule: 'The answer to a submission states the id, a vendor callback only hints at it',
    mistake: 'keeps the id of the callback',
    file: 'server/work/tasks/submit/submit.ts',
    find: 'if (by === undefined && (await correct(engine, task, upstreamId))) {',
    replace: 'if (by !== undefined && (await correct(engine, task, upstreamId))) {',
    tests: ['tests/tasks/callbacks/callbacks.test.ts'],
  },
  {
    rule: 'Accounts share the slots of calls',
    mistake: 'serves whoever comes first',
    file: 'server/base/lib/queues/fair-slots.ts',
    find: 'if (own * slots < EAGERNESS * free * free) return',
    replace: 'if (own <= slots) return',
    tests: ['tests/pipeline/load/fair-share.test.ts'],
  },
  {
    rule: 'After an outage nobody is taken for dead before a whole lease has passed',
    mistake: 'sweeps at the first renewal that succeeds',
    file: 'server/money/ledger/sql/sweep.sql',
    find: 'steady_since < at - lease',
    replace: 'steady_since <= at',
    tests: ['tests/ledger/owners.test.ts'],
  },
  {
    rule: 'Tools in the conversation are priced as those of the request',
    mistake: 'reads those of chats only',
    file: 'server/api/endpoints/text/billing/tool-lists.ts',
    find: "for (const name of ['messages', 'input'])",
    replace: "for (const name of ['messages'])",
  },
  {
    rule: 'What decides the size of a picture under another name is refused',
    mistake: 'reads no name',
    file: 'server/api/endpoints/images/refuse-other-sizes.ts',
    find: 'if (words.length === 0) return',
    replace: 'if (words.length >= 0) return',
  },
  {
    rule: 'What is on hold counts towards a budget',
    mistake: 'counts what is spent alone',
    file: 'server/money/ledger/sql/budgets.sql',
    find: 'and (u.held + u.spent + asked <= rule.amount',
    replace: 'and (u.spent + asked <= rule.amount',
    tests: ['tests/ledger/budgets/counting.test.ts'],
  },
  {
    rule: 'A week of a budget begins on its day',
    mistake: 'begins it on Monday',
    file: 'server/money/ledger/sql/budgets.sql',
    find: '(extract(isodow from day)::integer - week_start + 7) % 7',
    replace: '(extract(isodow from day)::integer - 1 + 7) % 7',
    tests: ['tests/ledger/budgets/windows.test.ts'],
  },
  {
    rule: 'Lists are worked out again when their sources have changed',
    mistake: 'believes a fingerprint of other sources',
    file: 'server/money/catalog/lists/derive.ts',
    find: 'fingerprint === fingerprints.get(id)',
    replace: 'fingerprint !== null',
    tests: ['tests/catalog/price-lists.test.ts'],
  },
  {
    rule: 'The chart of a tag has the calls of the list',
    mistake: 'takes every call with tags',
    file: 'server/money/usage/label-figures-store.ts',
    find: "in ', ' || tags || ', ') > 0",
    replace: "in ', ' || tags || ', ') >= 0",
    tests: ['tests/usage/label-figures.test.ts'],
  },
]
