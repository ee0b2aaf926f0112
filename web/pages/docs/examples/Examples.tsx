// The reader's own values in the examples of a page: this deployment's address, a model of its
// catalogue, and for an owner whose browser has the key, the key. It stays masked until shown;
// copying reads it from the browser's storage at the click.
import { useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'
import type { Brand } from '../../../../src/cabinet/contract/contract.ts'
import { brandQuery, meQuery, pricesQuery } from '../../../runtime/queries.ts'
import { maskedKey } from '../../key/KeyPanel.tsx'
import type { Values } from './fill.ts'
import { type OwnKey, WatchOwnKey } from './OwnKey.tsx'

type Examples = {
  readonly brand: Brand
  /** With what is shown in place of the key. */
  readonly shown: Values
  /** Undefined: this browser has no key, or nobody is signed in. */
  readonly own: OwnKey | undefined
  readonly chooseModel: (id: string) => void
}

const ExamplesContext = createContext<Examples | undefined>(undefined)

/** Undefined until the address is known. */
export function useExamples(): Examples | undefined {
  return useContext(ExamplesContext)
}

export function Examples({ children }: { readonly children: ReactNode }) {
  const { data: me } = useQuery(meQuery)
  const { data: brand } = useQuery(brandQuery)
  const { data: prices } = useQuery(pricesQuery)
  const [model, chooseModel] = useState<string>()
  const [own, setOwn] = useState<OwnKey>()
  const value = useMemo((): Examples | undefined => {
    if (brand === undefined) return undefined
    const { apiUrl, vendorSlug } = brand
    const key = own === undefined ? undefined : (own.plain ?? maskedKey(vendorSlug, own.last4))
    const models = prices?.models.map(({ id }) => id) ?? []
    return { brand, shown: { apiUrl, vendorSlug, key, models, model }, own, chooseModel }
  }, [brand, prices, model, own])
  return (
    <ExamplesContext value={value}>
      {me != null && <WatchOwnKey account={me.account} onChange={setOwn} />}
      {children}
    </ExamplesContext>
  )
}
