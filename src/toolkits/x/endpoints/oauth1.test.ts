import { expect, it } from 'vitest';
import { percent, signOAuth1 } from './oauth1.ts';

// The worked example of X's own manual ("Creating a signature").
it('signs the example of X’s manual with the signature printed there', () => {
  const header = signOAuth1(
    {
      method: 'post',
      url: 'https://api.twitter.com/1/statuses/update.json',
      params: [
        ['include_entities', 'true'],
        ['status', 'Hello Ladies + Gentlemen, a signed OAuth request!'],
      ],
    },
    {
      consumerKey: 'xvz1evFS4wEEPTGEFPHBog',
      consumerSecret: 'kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw',
      token: '370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb',
      tokenSecret: 'LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE',
    },
    { timestamp: 1318622958, nonce: 'kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg' },
  );
  expect(header).toMatch(/^OAuth oauth_consumer_key="xvz1evFS4wEEPTGEFPHBog", /);
  expect(header).toContain('oauth_signature="tnnArxj06cWHq44gCs1OSKk%2FjLY%3D"');
});

it('encodes what encodeURIComponent leaves alone', () => {
  expect(percent("a b!'()*~-._ü")).toBe('a%20b%21%27%28%29%2A~-._%C3%BC');
});
