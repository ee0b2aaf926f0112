// What typical work costs with the first models of the catalogue, in roubles.
import { useTranslation } from 'react-i18next'
import type { ModelPrice } from '../../../src/cabinet/contract/prices.ts'
import { creditsOf } from '../../format/decimal.ts'
import { useFormat } from '../../format/use-format.ts'
import { useRate } from '../../format/use-rate.ts'
import { paths } from '../../paths.ts'
import { Table } from '../../ui/Table.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { Section } from './Section.tsx'
import { type Work, workCost, works } from './work.ts'

/** More columns do not fit a tablet. */
const MODELS_MAX = 3

export function TypicalWork({ models }: { readonly models: readonly ModelPrice[] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const rate = useRate()
  return (
    <Section title={t('front.work.title')} lead={t('front.work.lead')}>
      <div className="min-w-0 rounded-box border border-line bg-sheet p-5 sm:p-6">
        <Table
          caption={t('front.work.title')}
          rows={works}
          rowId={({ id }) => id}
          columns={[
            {
              id: 'work',
              label: t('front.work.what'),
              isTitle: true,
              cell: ({ id }: Work) => (
                <>
                  {t(`front.work.${id}`)}
                  <span className="block text-sm font-normal text-soft">
                    {t(`front.work.${id}Text`)}
                  </span>
                </>
              ),
            },
            ...models.slice(0, MODELS_MAX).map((model) => ({
              id: model.id,
              label: format.text(model.name),
              isNumber: true,
              cell: (work: Work) => {
                const cost = workCost(model, work)
                return rate === undefined
                  ? format.credits(creditsOf(cost))
                  : format.rubles(rate.kopecks(cost))
              },
            })),
          ]}
        />
        <p className="mt-5 text-sm text-soft">
          {rate !== undefined && `${t('prices.calculator.rate', { source: rate.source })} `}
          {t('front.work.rounding')}{' '}
          <TextLink to={paths.prices}>{t('front.work.calculator')}</TextLink>
        </p>
      </div>
    </Section>
  )
}
