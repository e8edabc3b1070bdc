/** Dialog that creates a batch of codes and shows them once. */
import { Button, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core'
import { CheckedRow } from '../../components/fields/checked-row.tsx'
import { CheckedField } from '../../components/form/checked-form.tsx'
import { Dialog } from '../../components/form/dialog.tsx'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { CodeSnippet } from '../../components/text/code-snippet.tsx'
import type { RequestOf } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { plainNumber } from '../../lib/nanos.ts'
import { useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

interface MakeCodesProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function MakeCodes({ isOpen, onClose }: MakeCodesProps) {
  const t = useMessages(messages)
  const make = useAdminChange('POST /operator/redeem-codes')
  const codes = make.data?.data.map(({ code }) => code)
  const close = () => {
    onClose()
    make.reset()
  }
  return (
    <Dialog
      isOpen={isOpen}
      title={codes ? t('createdTitle') : t('create')}
      isSticky={codes !== undefined}
      isBusy={make.isPending}
      onClose={close}
    >
      {codes ? (
        <CodesShownOnce codes={codes} onDone={close} />
      ) : (
        <Form onSend={(body) => make.mutateAsync({ body })} onCancel={close} />
      )}
    </Dialog>
  )
}

function CodesShownOnce({
  codes,
  onDone,
}: {
  readonly codes: readonly string[]
  onDone: () => void
}) {
  const t = useMessages(messages)
  return (
    <Stack gap="sm">
      <Text size="sm">{t('createdText')}</Text>
      <CodeSnippet code={codes.join('\n')} />
      <Group justify="flex-end">
        <Button onClick={onDone}>{t('done')}</Button>
      </Group>
    </Stack>
  )
}

interface FormProps {
  readonly onSend: (batch: RequestOf<'POST /operator/redeem-codes'>['body']) => Promise<unknown>
  readonly onCancel: () => void
}

function Form({ onSend, onCancel }: FormProps) {
  const t = useMessages(messages)
  const kinds = (['promotion', 'top_up'] as const).map((value) => ({ value, label: t(value) }))
  return (
    <SubmitForm
      act={t('create')}
      onCancel={onCancel}
      onSend={async (fields) => {
        const { count, amount = '', currency = '', kind, note = '', expires } = fields
        await onSend({
          count: Number(count),
          amount: plainNumber(amount),
          currency: currency.normalize('NFKC').toUpperCase(),
          kind: kind === 'top_up' ? 'top_up' : 'promotion',
          note,
          ...(expires ? { expires_at: expires } : {}),
        })
      }}
    >
      <CheckedRow
        fields={[
          { param: 'amount', label: t('amount') },
          { param: 'currency', label: t('currency') },
        ]}
        grow
      >
        <NumberInput name="count" label={t('count')} required min={1} max={1000} defaultValue={1} />
        <CheckedField param="amount">
          {(error) => (
            <TextInput
              name="amount"
              label={t('amount')}
              error={error}
              required
              inputMode="decimal"
              data-autofocus
            />
          )}
        </CheckedField>
        <CheckedField param="currency">
          {(error) => (
            <TextInput
              name="currency"
              label={t('currency')}
              error={error}
              required
              defaultValue="CNY"
            />
          )}
        </CheckedField>
      </CheckedRow>
      <Group grow>
        <Select name="kind" label={t('kind')} data={kinds} defaultValue="promotion" />
        <TextInput name="expires" label={t('expires')} type="date" />
      </Group>
      <TextInput name="note" label={t('note')} description={t('noteText')} maxLength={200} />
    </SubmitForm>
  )
}
