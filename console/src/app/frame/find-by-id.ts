/** Finds the page of an id, as copied from a log or a customer's message. */

interface Place {
  readonly path: string
  /** The page's parameters that get the id: the filter of a long list, and the open row. */
  readonly parameters: readonly string[]
}

interface Places {
  readonly customer?: Place
  readonly operator?: Place
}

const at = (path: string, ...parameters: readonly string[]): Place => ({
  path,
  parameters: parameters.length > 0 ? parameters : ['id'],
})

/** Pages by id prefix. */
const PLACES: Readonly<Record<string, Places>> = {
  req: { customer: at('/usage'), operator: at('/operator/calls', 'request_id', 'id') },
  task: { customer: at('/tasks'), operator: at('/operator/tasks', 'id', 'task') },
  key: { customer: at('/keys') },
  bud: { customer: at('/budgets') },
  whd: { customer: at('/webhooks'), operator: at('/operator/deliveries', 'id', 'delivery') },
  acct: { operator: at('/operator/accounts') },
}

const ID = /^([a-z]+)_[\w-]{6,}$/i

/** Prefers the operator page where there is one. */
export function placesOfId(text: string, isOperator: boolean): readonly Place[] {
  const prefix = ID.exec(text)?.[1]
  const { customer, operator } = (prefix && PLACES[prefix]) || {}
  return [isOperator ? operator : undefined, customer].filter((place) => place !== undefined)
}
