/** Adds models of a channel: chosen from the vendor's list, priced, then tried. */
import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { Notice } from '../../../components/state/notice.tsx'
import { TryModel } from '../../../components/state/try-model.tsx'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import { useAdmin } from '../../../lib/use-admin.ts'
import { vendorName } from '../../../lib/words/vendor-names.ts'
import { messages } from './messages.ts'
import { ModelChoice } from './model-choice.tsx'
import { draftModel, type NewModel } from './new-model.ts'
import { NewModelsForm } from './new-models-form.tsx'

interface VendorModelsProps {
  readonly channel: string
  readonly onBook: (vendor: string) => void
  readonly onByHand: () => void
  readonly onOpen: (id: string) => void
}

export function VendorModels({ channel, onBook, onByHand, onOpen }: VendorModelsProps) {
  const t = useMessages(messages)
  const [chosen, setChosen] = useState<readonly string[]>([])
  /** Of the chosen models, and of some that were chosen before. */
  const [drafts, setDrafts] = useState<readonly NewModel[]>([])
  const [step, setStep] = useState<'choose' | 'price'>('choose')
  const [added, setAdded] = useState<readonly string[]>([])
  const [first] = added
  if (first !== undefined) {
    return (
      <Stack gap="md">
        <Notice tone="info" title={t('done', { models: added.join(', ') })}>
          {t('doneText')}
        </Notice>
        <TryModel model={first} />
        <Group gap="xs">
          <Button variant="default" onClick={() => onOpen(first)}>
            {t('seeModel', { model: first })}
          </Button>
          <Button variant="default" onClick={() => setAdded([])}>
            {t('moreModels')}
          </Button>
        </Group>
      </Stack>
    )
  }
  if (step === 'price') {
    return (
      <NewModelsForm
        channel={channel}
        models={drafts}
        onChange={setDrafts}
        onBack={() => setStep('choose')}
        onByHand={onByHand}
        onAdded={(ids) => {
          setAdded(ids)
          setChosen([])
          setDrafts([])
          setStep('choose')
        }}
      />
    )
  }
  return (
    <>
      <KnownVendor channel={channel} onBook={onBook} />
      <ModelChoice
        channel={channel}
        chosen={chosen}
        onChoose={setChosen}
        onNext={(all) => {
          setChosen(all)
          setDrafts(all.map((name) => drafts.find(isOf(name)) ?? draftModel(name)))
          setStep('price')
        }}
      />
    </>
  )
}

const isOf = (name: string) => (one: NewModel) => one.upstreamModel === name

/** The price book of the channel's vendor, where it has one. */
function KnownVendor({ channel, onBook }: Pick<VendorModelsProps, 'channel' | 'onBook'>) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const vendors = useAdmin('GET /operator/vendors', {})
  const vendor = vendors.data?.data.find((one) =>
    one.channels.some(({ id, exists }) => exists && id === channel),
  )
  if (!vendor || vendor.models === 0) return null
  return (
    <Notice
      tone="info"
      title={t('hasBook', { vendor: vendorName(vendor, language) })}
      action={
        <Button size="compact-sm" variant="default" onClick={() => onBook(vendor.id)}>
          {t('useBook')}
        </Button>
      }
    />
  )
}
