// A banner on every page while a document has a new version that the owner has not agreed to.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Trans, useTranslation } from 'react-i18next'
import type { DocumentLink } from '../../src/cabinet/contract/contract.ts'
import { paths } from '../paths.ts'
import { call } from '../runtime/api.ts'
import { currentLanguage } from '../runtime/language.ts'
import { consentsQuery, meQuery } from '../runtime/queries.ts'
import { useMe } from '../runtime/session.ts'
import { Banner } from '../ui/Banner.tsx'
import { Button } from '../ui/Button.tsx'
import { TextLink } from '../ui/TextLink.tsx'
import { useErrorToast } from '../ui/Toasts.tsx'

export function ConsentBanner() {
  const { consentsOutstanding } = useMe()
  const required = consentsOutstanding.filter((one) => one.isRequired)
  if (required.length === 0) return null
  return (
    <div className="mb-6 grid gap-3">
      {required.map((one) => (
        <ConsentRequest key={one.document} link={one} />
      ))}
    </div>
  )
}

function ConsentRequest({ link }: { readonly link: DocumentLink }) {
  const { t } = useTranslation()
  const agree = useAgree()
  const { document } = link
  return (
    <Banner
      tone="warn"
      title={t('consent.newTitle')}
      actions={
        <Button isSmall isPending={agree.isPending} onClick={() => agree.mutate(link)}>
          {t('consent.agree')}
        </Button>
      }
    >
      <Trans
        i18nKey="consent.newText"
        values={{ title: link.title[currentLanguage()] }}
        components={{ a: <TextLink to={paths.document} params={{ document }} /> }}
      />
    </Banner>
  )
}

/** Records the owner's consent to the current version. */
export function useAgree() {
  const client = useQueryClient()
  const showError = useErrorToast()
  return useMutation({
    mutationFn: ({ document, version }: DocumentLink) =>
      call('POST /api/consents', { body: { document, version } }),
    onSuccess: async (consents) => {
      client.setQueryData(consentsQuery.queryKey, consents)
      await client.invalidateQueries({ queryKey: meQuery.queryKey })
    },
    onError: showError,
  })
}
