/**
 * Checks that the schema of a single file cannot express: mistakes across entries, and warnings.
 */
import { checkSettings, type KnownUpstreams } from '../channel-settings.ts'
import { findGivenAway, findUnpricedCosts } from '../compare-costs.ts'
import type { Environment } from '../environment.ts'
import { readPrices } from '../load/load-model.ts'
import type { Mistake } from '../mistakes.ts'
import { expectedCost } from '../price/expected-cost.ts'
import { findHidden } from '../price/find-hidden.ts'
import { findUnknownFacts } from '../price/price-checks.ts'
import type { NamedCatalogFile } from './file.ts'
import type { FileModel } from './file-schema.ts'

/** Returns duplicate ids, unknown upstreams and settings that an upstream rejects. */
export function findMistakes(
  files: readonly NamedCatalogFile[],
  upstreams: KnownUpstreams,
  environment: Environment,
): Mistake[] {
  return [
    ...findDuplicates(files, 'channels'),
    ...findDuplicates(files, 'models'),
    ...files.flatMap((file) => channelMistakes(file, upstreams, environment)),
  ]
}

function findDuplicates(files: readonly NamedCatalogFile[], list: 'channels' | 'models') {
  const first = new Map<string, string>()
  const mistakes: Mistake[] = []
  for (const { name, content } of files) {
    for (const [index, { id }] of content[list].entries()) {
      const place = `${list}[${index}]`
      const earlier = first.get(id)
      if (earlier === undefined) first.set(id, `${name}: ${place}`)
      else mistakes.push({ file: name, path: `${place}.id`, problem: `"${id}" is also ${earlier}` })
    }
  }
  return mistakes
}

function channelMistakes(
  { name, content }: NamedCatalogFile,
  upstreams: KnownUpstreams,
  environment: Environment,
): Mistake[] {
  return content.channels.flatMap((channel, index): readonly Mistake[] => {
    const upstream = Object.hasOwn(upstreams, channel.upstream)
      ? upstreams[channel.upstream]
      : undefined
    if (!upstream) {
      const known = Object.keys(upstreams).sort().join(', ')
      const problem = `there is no upstream "${channel.upstream}"; known: ${known}`
      return [{ file: name, path: `channels[${index}].upstream`, problem }]
    }
    const path = ['channels', index, 'settings']
    return checkSettings(name, path, channel.settings, upstream, environment).mistakes
  })
}

/** Returns warnings about entries that work but are probably not intended. */
export function findWarnings(
  files: readonly NamedCatalogFile[],
  upstreams: KnownUpstreams,
  environment: Environment,
): string[] {
  return files.flatMap(({ name, content }) => [
    ...content.channels.flatMap((channel) => {
      const upstream = upstreams[channel.upstream]
      if (!upstream) return []
      const { missing } = checkSettings(name, [], channel.settings, upstream, environment)
      return missing.map(
        (variable) =>
          `channel ${channel.id}: ${variable} is not set here; ` +
          'a gateway without it cannot use the channel',
      )
    }),
    ...content.models.flatMap(priceWarnings),
    ...content.models.flatMap(routingWarnings),
  ])
}

function routingWarnings({ id, type, routes, details }: FileModel): string[] {
  if (details.routing !== 'cheapest') return []
  return routes
    .filter(({ costs = [] }) => expectedCost(readPrices(costs, type), type) === undefined)
    .map(({ channel, upstream_model: name }) => {
      return `model ${id}: the cost of the route ${channel}/${name} is not known: it is tried last`
    })
}

const UNSOLD = 'has no price, although a route has costs for it'
const GIVEN_AWAY = 'has no price: such tokens cost nothing'

function priceWarnings({ id, type, prices, planned_prices: plans = [], routes }: FileModel) {
  // Prices for other models apply only to the work that those models did.
  const own = prices.filter(({ when = {} }) => !Object.hasOwn(when, 'model'))
  const units = new Set(own.map(({ unit }) => unit))
  const always = new Set(prices.filter(({ when }) => !when).map(({ unit }) => unit))
  const conditional = [...units]
    .filter((unit) => !always.has(unit) && !unit.startsWith('cache'))
    .map((unit) => `model ${id}: ${unit} has no price if none of its conditions holds`)
  const unknown = prices.flatMap(({ when }, index) => {
    return findUnknownFacts(type, when).map((name) => {
      return `model ${id}: prices[${index}] never applies: no call has a fact "${name}"`
    })
  })
  const hidden = findHidden(prices).map(({ index, by }) => {
    return `model ${id}: prices[${index}] never applies: prices[${by}] holds for all of its calls`
  })
  const periods = [
    { name: `model ${id}`, prices, own },
    ...plans.map((plan) => {
      return { ...plan, name: `model ${id} from ${plan.effective_from}`, own: plan.prices }
    }),
  ]
  const unsold = periods.flatMap((period) => {
    const costing = findUnpricedCosts(period.prices, routes)
    const freeTokens = findGivenAway(type, period.own).filter((unit) => !costing.includes(unit))
    return [
      ...freeTokens.map((unit) => `${period.name}: ${unit} ${GIVEN_AWAY}`),
      ...costing.map((unit) => `${period.name}: ${unit} ${UNSOLD}`),
    ]
  })
  return [...conditional, ...unknown, ...hidden, ...unsold]
}
