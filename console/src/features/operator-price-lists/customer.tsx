/** The price list of one account, and its own prices. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { CheckedSubmitForm } from '../../components/form/checked-submit-form.tsx'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { Dialog } from '../../components/form/dialog.tsx'
import { InvalidFields } from '../../components/form/invalid-field.ts'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { KeyValue } from '../../components/text/key-value.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { BelowCost } from './below-cost.tsx'
import { checkList, NO_TERMS, toListBody, toListDraft } from './draft.ts'
import { ListFields } from './list-fields.tsx'
import { ListSelect } from './list-select.tsx'
import { messages } from './messages.ts'
import { BASE_LIST } from './price-cell.tsx'

type Account = AdminAnswer<'GET /operator/accounts/:account_id'>
type Prices = AdminAnswer<'GET /operator/accounts/:account_id/prices'>

interface CustomerProps {
  readonly account: Account
  readonly prices: Prices
}

export function CustomerPanel({ account, prices }: CustomerProps) {
  const t = useMessages(messages)
  const [open, setOpen] = useState<'list' | 'own' | 'clear'>()
  const [warnings, setWarnings] = useState<readonly string[]>([])
  const clear = useAdminChange('DELETE /operator/accounts/:account_id/prices')
  const params = { account_id: account.id }
  const nameOfList = (id: string) => {
    if (id === BASE_LIST) return t('base')
    return prices.own && id === prices.lists[0] && id !== account.price_list ? t('own') : id
  }
  const close = () => setOpen(undefined)
  return (
    <Panel>
      <Stack gap="sm">
        <BelowCost warnings={warnings} />
        <KeyValue
          facts={[
            { label: t('assign'), value: account.price_list ?? t('base') },
            { label: t('why'), value: prices.lists.map(nameOfList).join(' → ') },
          ]}
        />
        <Group gap="xs">
          <Button variant="default" size="compact-sm" onClick={() => setOpen('list')}>
            {t('changeList')}
          </Button>
          <Button variant="default" size="compact-sm" onClick={() => setOpen('own')}>
            {t('editOwn')}
          </Button>
          {prices.own ? (
            <Button variant="default" size="compact-sm" onClick={() => setOpen('clear')}>
              {t('clearOwn')}
            </Button>
          ) : null}
        </Group>
      </Stack>
      <Dialog isOpen={open === 'list'} title={t('assign')} onClose={close}>
        <Assignment account={account} onClose={close} />
      </Dialog>
      <DetailDrawer isOpen={open === 'own'} title={t('editOwn')} onClose={close}>
        <OwnPrices
          account={account}
          prices={prices}
          onSaved={(found) => {
            setWarnings(found)
            close()
          }}
          onClose={close}
        />
      </DetailDrawer>
      <ConfirmDialog
        isOpen={open === 'clear'}
        title={t('clearOwn')}
        act={t('clearOwn')}
        isDangerous
        onClose={close}
        onConfirm={async () => {
          await clear.mutateAsync({ params })
          notifyDone(t('ownCleared'))
        }}
      >
        {t('clearOwnText')}
      </ConfirmDialog>
    </Panel>
  )
}

interface AssignmentProps {
  readonly account: Account
  readonly onClose: () => void
}

function Assignment({ account, onClose }: AssignmentProps) {
  const t = useMessages(messages)
  const [id, setId] = useState(account.price_list ?? BASE_LIST)
  const assign = useAdminChange('PUT /operator/accounts/:account_id/price-list')
  const send = async () => {
    const body = { price_list: id === BASE_LIST ? null : id }
    await assign.mutateAsync({ params: { account_id: account.id }, body })
    notifyDone(t('assigned', { list: id === BASE_LIST ? t('base') : id }))
    onClose()
  }
  return (
    <CheckedSubmitForm act={t('save')} onSend={send} onCancel={onClose}>
      <ListSelect
        param="price_list"
        label={t('assign')}
        description={t('assignHint')}
        currency={account.currency}
        value={id}
        onChange={setId}
      />
    </CheckedSubmitForm>
  )
}

interface OwnPricesProps extends AssignmentProps {
  readonly prices: Pick<Prices, 'own' | 'own_revision'>
  readonly onSaved: (warnings: readonly string[]) => void
}

function OwnPrices({ account, prices, onSaved, onClose }: OwnPricesProps) {
  const t = useMessages(messages)
  const [{ own, own_revision: revision }] = useState(prices)
  const [list, setList] = useState(() => (own ? toListDraft(own) : NO_TERMS))
  const change = useAdminChange('PUT /operator/accounts/:account_id/prices')
  const send = async () => {
    const wrong = checkList(list, t)
    if (wrong.length > 0) throw new InvalidFields(wrong)
    const params = { account_id: account.id }
    const saved = await change.mutateAsync({ params, body: toListBody(list), revision })
    notifyDone(t('ownSaved'))
    onSaved(saved.warnings)
  }
  return (
    <CheckedSubmitForm act={t('save')} onSend={send} onCancel={onClose}>
      <Text size="sm" c="dimmed">
        {t('assignHint')}
      </Text>
      <ListFields list={list} onChange={setList} />
    </CheckedSubmitForm>
  )
}
