/** The members of an account, in the list and beside it. */
import type { RowFields } from '../../components/list/fields.tsx'
import { AccountName } from '../../components/text/account-name.tsx'
import type { RowOf } from '../../lib/use-admin.ts'
import type { messages } from './messages.ts'

type Row = RowOf<'GET /operator/accounts'>

export const ACCOUNT_FIELDS: RowFields<Row, (typeof messages)['en']> = [
  { word: 'name', in: 'list', show: (row) => <AccountName {...row} /> },
  { key: 'id', as: 'copy', in: 'details' },
  { key: 'status', as: 'status' },
  { key: 'available', as: 'money', places: 2 },
  { key: 'held', as: 'money', places: 2, minor: true },
  { key: 'debt', as: 'money', places: 2 },
  { key: 'price_list', word: 'priceList', absent: ['–', 'basePrices'], minor: true },
  { key: 'keys', minor: true, align: 'right' },
  {
    word: 'allowedIps',
    in: 'details',
    show: ({ allowed_ips: networks }, { t }) => networks.join(', ') || t('everywhere'),
  },
  { key: 'created_at', word: 'created', as: 'time', minor: true },
]
