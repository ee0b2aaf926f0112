// What is promised, each with a link to the page that says how it is kept.
import { BadgeCheck, EyeOff, KeyRound, ReceiptText, ShieldCheck, Undo2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Brand } from '../../../src/cabinet/contract/contract.ts'
import { paths } from '../../paths.ts'
import { TextLink } from '../../ui/TextLink.tsx'
import { Section } from './Section.tsx'

const promises = ['exact', 'free', 'limit', 'silent', 'key', 'refund'] as const
type PromiseName = (typeof promises)[number]

const icons = {
  exact: ReceiptText,
  free: BadgeCheck,
  limit: ShieldCheck,
  silent: EyeOff,
  key: KeyRound,
  refund: Undo2,
} as const

/**
 * Where the documentation says how a promise is kept; its anchors are the same in both languages.
 */
const rules: Readonly<Record<PromiseName, { readonly page: string; readonly hash: string }>> = {
  exact: { page: 'charging', hash: 'how-to-check-a-charge' },
  free: { page: 'charging', hash: 'how-a-request-ends-and-what-it-costs' },
  limit: { page: 'charging', hash: 'reserved-first-charged-afterwards' },
  silent: { page: 'charging', hash: 'how-to-check-a-charge' },
  key: { page: 'quick-start', hash: 'keep-the-key-secret' },
  refund: { page: 'charging', hash: 'packs-and-refunds' },
}

export function Promises({ refundPolicy }: Pick<Brand, 'refundPolicy'>) {
  const { t } = useTranslation()
  const shown = promises.filter((one) => one !== 'refund' || refundPolicy !== 'none')
  return (
    <Section title={t('front.promises')} lead={t('front.promisesLead')}>
      <ul className="grid gap-x-8 gap-y-8 sm:grid-cols-2 lg:grid-cols-3">
        {shown.map((promise) => {
          const Icon = icons[promise]
          return (
            <li key={promise} className="grid content-start gap-2 border-t-2 border-accent pt-4">
              <Icon aria-hidden className="size-6 text-accent" />
              <h3 className="text-lg">{t(`front.promise.${promise}`)}</h3>
              <p className="text-soft">
                {promise === 'refund'
                  ? t(`packs.refunds.${refundPolicy}`)
                  : t(`front.promise.${promise}Text`)}
              </p>
              <TextLink
                to={paths.docs}
                params={{ page: rules[promise].page }}
                hash={rules[promise].hash}
                aria-label={t('front.promise.howFor', { promise: t(`front.promise.${promise}`) })}
                className="justify-self-start py-1"
              >
                {t('front.promise.how')}
              </TextLink>
            </li>
          )
        })}
      </ul>
    </Section>
  )
}
