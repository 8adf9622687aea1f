from gridquery.cli import main

raise SystemExit(main())
