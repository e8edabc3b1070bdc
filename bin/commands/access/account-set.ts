/** `tributary account set`: an account's prices, networks and alerts. */
import type { Command } from 'commander'
import { openGuard } from '../../../server/api/app/open-outbound.ts'
import { formatAmount, type Nanos } from '../../../server/base/lib/money.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { assignPriceList } from '../../../server/money/accounts/assign-price-list.ts'
import {
  type AccountRow,
  setAccountAlerts,
  setAccountAllowedIps,
  showAccount,
} from '../../../server/money/accounts/manage-accounts.ts'
import { switchList } from '../../../server/money/catalog/lists/switch-list.ts'
import { type None, networkList, noneToNull, orNone, positiveAmount } from '../../lib/parse.ts'
import { actor, type CommandSession, recordAct, withSession } from '../../lib/session.ts'

interface SetOptions {
  readonly priceList?: string
  readonly alertUrl?: string
  readonly lowBalanceAt?: Nanos | None
  readonly allowedIps?: string[] | None
  readonly json?: boolean
}

export function addSet(
  account: Command,
  show: (row: AccountRow, options: SetOptions) => void,
): void {
  account
    .command('set <account>')
    .description('change the price list, the alerts and the allowed networks of an account')
    .option('--price-list <list>', 'the price list, or none for the base prices')
    .option('--alert-url <url>', 'URL that receives a signed webhook for each alert, or none')
    .option(
      '--low-balance-at <amount>',
      'balance below which an alert is sent, in the account’s currency, or none',
      orNone(positiveAmount),
    )
    .option('--allowed-ips <networks>', 'where calls may come from, or none', orNone(networkList))
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
A new list applies from the account's next call, on every gateway. Calls and
tasks in progress keep their prices. Networks apply to new calls of all its
keys within 5 seconds, besides those of a key; behind a proxy, set
TRUSTED_PROXIES first.

Examples:
  tributary account set acct_… --price-list gold
  tributary account set acct_… --price-list none
  tributary account set acct_… --alert-url https://example.com/alerts \\
    --low-balance-at 5
  tributary account set acct_… --allowed-ips 10.0.0.0/8,2001:db8::/32`,
    )
    .action((id: string, options: SetOptions) =>
      withSession(async (session) => {
        const { priceList, alertUrl, lowBalanceAt, allowedIps } = options
        if ((priceList ?? alertUrl ?? lowBalanceAt ?? allowedIps) === undefined) {
          throw new OperatorError(
            'nothing to set: give --price-list, --alert-url, --low-balance-at or --allowed-ips',
          )
        }
        if (priceList !== undefined) await setPriceList(session, id, priceList)
        if ((alertUrl ?? lowBalanceAt) !== undefined) await setAlerts(session, id, options)
        if (allowedIps !== undefined) await setAllowedIps(session, id, allowedIps)
        show(await showAccount(session.sql, id), options)
      }),
    )
}

async function setPriceList({ sql }: CommandSession, id: string, priceList: string) {
  const list = priceList === 'none' ? null : priceList
  await switchList(sql, (transaction) => assignPriceList(transaction, id, list, actor()))
  const place = { target: id, accountId: id }
  await recordAct(sql, 'PUT /operator/accounts/:account_id/price-list', place, { price_list: list })
}

async function setAllowedIps({ sql }: CommandSession, id: string, allowedIps: string[] | None) {
  const { allowed_ips: before } = await showAccount(sql, id)
  const { allowed_ips } = await setAccountAllowedIps(sql, id, noneToNull(allowedIps) ?? [])
  const place = { target: id, accountId: id }
  await recordAct(sql, 'PATCH /accounts/:account_id', place, { allowed_ips, before })
}

async function setAlerts(session: CommandSession, id: string, options: SetOptions) {
  const { sql } = session
  const { lowBalanceAt, alertUrl } = await readAlerts(session, options)
  await setAccountAlerts(sql, id, {
    ...(alertUrl === undefined ? {} : { alertUrl }),
    ...(lowBalanceAt === undefined ? {} : { lowBalanceAt }),
  })
  const place = { target: id, accountId: id }
  await recordAct(sql, 'PATCH /accounts/:account_id', place, {
    ...(alertUrl === undefined ? {} : { alert_url: alertUrl }),
    ...(lowBalanceAt === undefined
      ? {}
      : { low_balance_at: lowBalanceAt === null ? null : formatAmount(lowBalanceAt) }),
  })
}

async function readAlerts({ config }: CommandSession, { alertUrl, lowBalanceAt }: SetOptions) {
  const url = alertUrl === undefined ? undefined : noneToNull(alertUrl)
  if (url) await checkAlertUrl(config, url)
  return {
    alertUrl: url,
    lowBalanceAt: lowBalanceAt === undefined ? undefined : noneToNull(lowBalanceAt),
  }
}

/** Names the variable that allows an address of the operator's own network. */
async function checkAlertUrl(config: CommandSession['config'], url: string): Promise<void> {
  const refusal = await openGuard(config).guard.checkUrl(url)
  if (refusal === undefined) return
  const wider = openGuard({ ...config, allowPrivateTargets: true })
  const hint = (await wider.guard.checkUrl(url)) === undefined
  throw new OperatorError(
    `--alert-url ${refusal}${hint ? ': ALLOW_PRIVATE_TARGETS=true allows it' : ''}`,
  )
}
